package router_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/names"
)

const ofAccount = "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {account: ATEAM}}"

// TestPodsLogInAsTheirRole composes each kind whose pods use NATS: on servers in operator
// mode each pod has the credentials file of its own user, and nothing starts before the
// file is there; on others nothing changes.
func TestPodsLogInAsTheirRole(t *testing.T) {
	source := "s3://koldun-models/source/org/tiny/" + commit
	whole := "spec: {forProvider: {url: " + source + "}}\nstatus: {atProvider: {whole: true}, conditions: [{type: Ready, status: 'True'}]}"
	exposed := func(account string) string {
		return "spec: {forProvider: {kind: Ingress, name: d, template: {spec: {}}}}\nstatus: {atProvider: {serving: true, outputs: {backendServiceName: g" + account + "}}}"
	}
	served := map[string]string{"model": goodModel, "ingresses": ""}
	for name, c := range map[string]struct {
		xr       string
		reports  string // the composed resource that reports the account
		other    state  // what else is observed
		account  string // the reporting resource, on servers in operator mode
		shared   string // on others
		required map[string]string
		// users of the NATSUser as name:role:tags, and the containers that have a file
		// as workload/container:file.
		users, files []string
	}{
		"Ingress": {ingress, "queue", nil, ofAccount, ready, nil,
			[]string{"dispatcher:dispatcher:", "gateway:gateway:"}, []string{"dispatcher/dispatcher:dispatcher.creds", "gateway/gateway:gateway.creds"}},
		"Session": {session + "spec: {modelRef: {name: m}}", "queue", nil, ofAccount, ready, map[string]string{"ingresses": ""},
			[]string{"dispatcher:dispatcher:"}, []string{"dispatcher/dispatcher:dispatcher.creds"}},
		"Root": {root + "spec: {modelRef: pvc, modelFile: a.m, tokenizerFile: a.t, serves: ns/m}", "runners", nil, ofAccount, ready, map[string]string{"ingresses": ""},
			[]string{"runner:runner:ns_m ns_r-alone-0 model/ns/m"}, []string{"root/llm:runner.creds"}},
		"Dllama": {dllama + "spec: {modelRef: {name: m}}", "runners", state{"bucket": ready}, ofAccount, ready, served,
			[]string{"runner:runner:ns_m ns_d-root-0 model/ns/m"}, []string{"root/llm:runner.creds"}},
		"ExposedDllama": {dllama + "spec: {modelRef: {name: m}, expose: {}}", "ingress-part", state{"bucket": ready}, exposed(", natsAccount: ATEAM"), exposed(""), served,
			[]string{"runner:runner:ns_m ns_d-root-0 model/ns/m"}, []string{"root/llm:runner.creds"}},
		"Fetching": {model + tiny, "queue", modelWith(nil), ofAccount, ready, map[string]string{"ingresses": ""},
			[]string{"convert:job:", "fetch:job:"}, []string{"fetch/fetch:fetch.creds"}},
		"Converting": {model + tiny, "queue", modelWith(state{"source": whole}), ofAccount, ready, map[string]string{"ingresses": ""},
			[]string{"convert:job:", "fetch:job:"}, []string{"convert/convert:convert.creds"}},
		"Inspecting": {model + stored, "queue", nil, ofAccount, ready, map[string]string{"ingresses": ""},
			[]string{"inspect:job:"}, []string{"inspect/inspect:inspect.creds"}},
	} {
		t.Run(name, func(t *testing.T) {
			at := func(reports string, more state) *fnv1.RunFunctionResponse {
				seen := join(state{c.reports: reports}, more)
				for k, v := range c.other {
					if k != c.reports {
						seen[k] = v
					}
				}
				return run(t, c.xr, seen, c.required)
			}
			if _, files := loginsOf(t, at(c.shared, nil)); len(files) != 0 || usersOf(t, at(c.shared, nil)) != nil {
				t.Errorf("without an account the files are %q", files)
			}
			waiting := at(c.account, nil)
			if users := usersOf(t, waiting); !sameUsers(users, c.users) {
				t.Errorf("the users are %q, want %q", users, c.users)
			}
			if workloads, _ := loginsOf(t, waiting); len(workloads) != 0 {
				t.Errorf("%q start before the credentials exist", workloads)
			}
			if _, files := loginsOf(t, at(c.account, state{"nats-users": ready})); !slices.Equal(files, c.files) {
				t.Errorf("the files are %q, want %q", files, c.files)
			}
			// What reports the account was deleted, and comes back.
			if _, ok := c.other[c.reports]; c.reports == "queue" && !ok || c.reports == "runners" {
				if users := usersOf(t, at("{}", state{"nats-users": ready})); !sameUsers(users, c.users) {
					t.Errorf("while the account is unknown the users are %q", users)
				}
			}
		})
	}
}

// sameUsers compares users with wanted ones, which leave out what is a hash.
func sameUsers(got, want []string) bool {
	return slices.EqualFunc(got, want, func(g, w string) bool {
		return g == w || strings.HasSuffix(w, ":job:") && strings.HasPrefix(g, w+"ns/")
	})
}

// usersOf returns the users of the desired NATSUser, nil if there is none.
func usersOf(t *testing.T, rsp *fnv1.RunFunctionResponse) []string {
	t.Helper()
	r, ok := rsp.GetDesired().GetResources()["nats-users"]
	if !ok {
		return nil
	}
	var u v1alpha1.NATSUser
	into(t, r, &u)
	if u.Namespace != "ns" || u.Spec.WriteConnectionSecretToReference == nil {
		t.Errorf("the NATSUser is %+v", u)
	}
	out := []string{}
	for _, g := range u.Spec.ForProvider.Users {
		tags := []string{}
		for _, tag := range []string{g.Session, g.Runner, g.Model, g.Progress} {
			if tag != "" {
				tags = append(tags, tag)
			}
		}
		out = append(out, g.Name+":"+g.Role+":"+strings.Join(tags, " "))
	}
	slices.Sort(out)
	return out
}

// loginsOf returns the desired workloads, and the files of their containers.
func loginsOf(t *testing.T, rsp *fnv1.RunFunctionResponse) (workloads, files []string) {
	t.Helper()
	all := rsp.GetDesired().GetResources()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		var w struct {
			Kind string `json:"kind"`
			Spec struct {
				Template corev1.PodTemplateSpec `json:"template"`
			} `json:"spec"`
		}
		if kind := all[key].GetResource().GetFields()["kind"].GetStringValue(); kind != "Deployment" && kind != "StatefulSet" && kind != "Job" {
			continue
		}
		into(t, all[key], &w)
		name := hashed.ReplaceAllString(key, "")
		workloads = append(workloads, name)
		pod := w.Spec.Template.Spec
		volumes := map[string]string{}
		for _, v := range pod.Volumes {
			if v.Secret != nil && strings.HasSuffix(v.Secret.SecretName, "-users") {
				if len(v.Secret.Items) != 1 {
					t.Errorf("volume %q of %s has %d keys of the Secret, want 1", v.Name, name, len(v.Secret.Items))
					continue
				}
				volumes[v.Name] = v.Secret.Items[0].Key
			}
		}
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			for _, m := range c.VolumeMounts {
				if file, ok := volumes[m.Name]; ok {
					files = append(files, name+"/"+c.Name+":"+file)
					if !slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool {
						return e.Name == "NATS_CREDS" && e.Value == names.DirRef(m.Name)+"/user.creds"
					}) {
						t.Errorf("container %q of %s does not read its credentials", c.Name, name)
					}
				}
			}
			for _, from := range c.EnvFrom {
				if from.SecretRef != nil && strings.HasSuffix(from.SecretRef.Name, "-users") {
					t.Errorf("container %q of %s has credentials in its environment", c.Name, name)
				}
			}
		}
	}
	return workloads, files
}

func into(t *testing.T, r *fnv1.Resource, v any) {
	t.Helper()
	raw, err := r.GetResource().MarshalJSON()
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}
