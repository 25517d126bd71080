package workload_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
)

// TestClaimsDoNotRedirectConnections gives all containers of a pod an environment that sends
// what they have to a server of the claim's author, or runs the author's commands.
func TestClaimsDoNotRedirectConnections(t *testing.T) {
	claim := []v1.EnvVar{{Name: "LOGIN", ValueFrom: &v1.EnvVarSource{SecretKeyRef: &v1.SecretKeyReference{Name: "s", Key: "k"}}}}
	for name, value := range map[string]string{
		"HF_ENDPOINT": "https://evil", "NATS_URL": "nats://evil", "NATS_CREDS": "/x", "AWS_ENDPOINT_URL_S3": "https://evil", "AWS_PROFILE": "evil",
		"BASH_ENV": "$(id)", "PYTHONWARNINGS": "all:0:antigravity.x:0:0", "BROWSER": "sh -c id #%s", "LD_PRELOAD": "/model/x.so", "GODEBUG": "http2debug=2",
		"GOMEMLIMIT": "1GiB", "OTEL_SERVICE_NAME": "x", "KOLDUN_LOG_LEVEL": "debug",
		"SSL_CERT_FILE": "/proc/self/environ", "SSL_CERT_DIR": "/model", "HF_TOKEN": "own", "HTTPS_PROXY": "http://$(HF_TOKEN)@evil",
	} {
		claim = append(claim, v1.EnvVar{Name: name, Value: value})
	}
	from := []v1.EnvFromSource{{ConfigMapRef: &v1.ObjectName{Name: "c"}}, {Prefix: "X_", SecretRef: &v1.ObjectName{Name: "s"}}}
	p := workload.Pod{
		Labels: map[string]string{"a": "b"}, Env: workload.EnvOf(claim, from),
		Init: []workload.Container{{Name: "keys", Image: "k", StoreKeys: workload.StoreKeys{Secret: "s"}}},
		Containers: []workload.Container{
			{Name: "secrets", Image: "k", Secrets: []string{"platform"}}, {Name: "login", Image: "k", Login: workload.Login{Secret: "s", Key: "k"}},
			{Name: "engine", Image: "vllm"},
		},
	}
	spec := p.Template().Spec
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		got, sources := map[string]string{}, []string{}
		for _, e := range c.Env {
			got[e.Name] = e.Value
		}
		for _, s := range c.EnvFrom {
			if s.ConfigMapRef != nil {
				sources = append(sources, s.Prefix+" "+s.ConfigMapRef.Name)
			} else {
				sources = append(sources, s.Prefix+" "+s.SecretRef.Name)
			}
		}
		maps.DeleteFunc(got, func(name, _ string) bool {
			return !slices.ContainsFunc(claim, func(v v1.EnvVar) bool { return v.Name == name })
		})
		want := map[string]string{"HF_TOKEN": "own", "HTTPS_PROXY": "http://$$(HF_TOKEN)@evil", "GOMEMLIMIT": "1GiB", "OTEL_SERVICE_NAME": "x", "KOLDUN_LOG_LEVEL": "debug"}
		wantSources := []string{"KOLDUN_CLAIM_ c", "KOLDUN_CLAIM_X_ s"}
		switch c.Name {
		case "engine":
			want, wantSources = map[string]string{"LOGIN": ""}, []string{" c", "X_ s"}
			for _, v := range claim {
				want[v.Name] = v.Value
			}
		case "secrets":
			wantSources = append(wantSources, " platform")
		case "login": // the container's own
			want["NATS_CREDS"] = "$(KOLDUN_DIR_NATS_LOGIN)/user.creds"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Name, diff)
		}
		if diff := cmp.Diff(wantSources, sources); diff != "" {
			t.Errorf("sources of %s (-want +got):\n%s", c.Name, diff)
		}
	}
}

// TestValuesHoldNoSecrets refers to variables of connections in each way that Kubernetes
// expands, and in ways that it does not.
func TestValuesHoldNoSecrets(t *testing.T) {
	for value, want := range map[string]string{
		"$(NATS_PASSWORD)":                    "$$(NATS_PASSWORD)",
		"a=$(HF_TOKEN),b=$(POD_NAME)":         "a=$$(HF_TOKEN),b=$(POD_NAME)",
		"$(AWS_SECRET_ACCESS_KEY)$(HF_TOKEN)": "$$(AWS_SECRET_ACCESS_KEY)$$(HF_TOKEN)",
		"$(KOLDUN_S3_CREDENTIALS)":            "$$(KOLDUN_S3_CREDENTIALS)",
		"$(KOLDUN_HASH_SECRET)":               "$$(KOLDUN_HASH_SECRET)",
		"$(X)$(OTEL_SERVICE_NAME)":            "$$(X)$(OTEL_SERVICE_NAME)",
		"$$(HF_TOKEN)":                        "$$(HF_TOKEN)",
		"$$$(HF_TOKEN)":                       "$$$$(HF_TOKEN)",
		"$($(HF_TOKEN))":                      "$$($$(HF_TOKEN))",
		"$(POD_NAME)$":                        "$(POD_NAME)$",
		"$(HF_TOKEN":                          "$(HF_TOKEN",
		"$HF_TOKEN $x$(HF_TOKEN)":             "$HF_TOKEN $x$$(HF_TOKEN)",
		"(HF_TOKEN)":                          "(HF_TOKEN)",
		"":                                    "",
	} {
		p := workload.Pod{Env: workload.Env{Vars: []corev1.EnvVar{{Name: "OTEL_EXPORTER_OTLP_HEADERS", Value: value}}}, Containers: []workload.Container{{Name: "c", Secrets: []string{"s"}}}}
		env := p.Template().Spec.Containers[0].Env
		if got := env[len(env)-1].Value; got != want {
			t.Errorf("%q becomes %q, want %q", value, got, want)
		}
	}
}

func TestWithheldVariables(t *testing.T) {
	got := workload.Withheld("spec.env", []v1.EnvVar{{Name: "HF_ENDPOINT"}, {Name: "BASH_ENV"}, {Name: "HF_TOKEN"}, {Name: "HTTPS_PROXY"}})
	if diff := cmp.Diff(map[string]bool{"spec.env[HF_ENDPOINT]": true, "spec.env[BASH_ENV]": true, "spec.env[HF_TOKEN]": false, "spec.env[HTTPS_PROXY]": false}, got); diff != "" {
		t.Error(diff)
	}
}
