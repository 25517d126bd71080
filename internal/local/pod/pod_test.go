package pod

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
)

func TestExpand(t *testing.T) {
	vars := map[string]string{"A": "1", "B": "$(A)", "EMPTY": ""}
	cases := map[string]string{
		"":             "",
		"plain":        "plain",
		"$(A)":         "1",
		"x$(A)y$(A)":   "x1y1",
		"$(B)":         "$(A)", // once only
		"$(EMPTY)x":    "x",
		"$(NONE)":      "$(NONE)",
		"$$(A)":        "$(A)",
		"$$$(A)":       "$1",
		"$":            "$",
		"$$":           "$",
		"a$":           "a$",
		"$A":           "$A",
		"$(A":          "$(A",
		"$()":          "$()",
		"$($(A))":      "$($(A))",
		"--port=:$(A)": "--port=:1",
	}
	for in, want := range cases {
		if got := expand(in, vars); got != want {
			t.Errorf("expand(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("$(A)$$$(B")
	f.Fuzz(func(t *testing.T, s string) {
		if got := expand(s, nil); len(got) > len(s) {
			t.Errorf("expand(%q) = %q grows", s, got)
		}
		if !strings.Contains(s, "$") && expand(s, map[string]string{"A": "1"}) != s {
			t.Errorf("%q changes", s)
		}
	})
}

const rootPod = `{
  "terminationGracePeriodSeconds": 120,
  "volumes": [{"name": "model", "emptyDir": {}}, {"name": "my-keys", "secret": {"secretName": "keys"}},
              {"name": "kept", "persistentVolumeClaim": {"claimName": "c"}}],
  "initContainers": [{"name": "fetch", "image": "own", "args": ["--to=$(KOLDUN_DIR_MODEL)"], "volumeMounts": [{"name": "model"}]}],
  "containers": [
    {"name": "engine", "image": "own", "ports": [{"name": "engine", "containerPort": 9990}, {"name": "llm", "containerPort": 8081}],
     "startupProbe": {"httpGet": {"path": "/readyz", "port": "llm"}},
     "args": ["--port=$(KOLDUN_PORT_ENGINE)", "$(KOLDUN_DIR_MODEL)/m", "$(FROM)"],
     "env": [{"name": "KOLDUN_PORT_ENGINE", "value": "9990"}, {"name": "KOLDUN_DIR_MODEL", "value": "/model"},
             {"name": "FROM", "value": "from $(KOLDUN_PORT_ENGINE)"},
             {"name": "LIMIT", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory"}}},
             {"name": "MAYBE", "valueFrom": {"secretKeyRef": {"name": "none", "key": "k", "optional": true}}}],
     "volumeMounts": [{"name": "model"}, {"name": "my-keys"}, {"name": "kept", "subPath": "a/b"}]},
    {"name": "llm", "image": "own", "envFrom": [{"prefix": "P_", "secretRef": {"name": "keys"}}],
     "readinessProbe": {"httpGet": {"path": "readyz", "port": 8081}},
     "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8081}, "periodSeconds": 20}}
  ]}`

func resolve(t *testing.T, text string) (*Plan, error) {
	t.Helper()
	var s Spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return Resolve(s, Place{
		Namespace: "ns", Name: "p-0", Dir: "/run/p", ClaimsDir: "/claims", Env: []string{"BASE=1"},
		Lookup: func(kind, name string) (map[string][]byte, bool) {
			if kind == "Secret" && name == "keys" {
				return map[string][]byte{"k": []byte("v"), "bad=": nil}, true
			}
			return nil, false
		},
	}, map[string]int{"engine": 20001, "llm": 20002})
}

func TestResolve(t *testing.T) {
	p, err := resolve(t, rootPod)
	if err != nil {
		t.Fatal(err)
	}
	ports := []string{"KOLDUN_PORT_ENGINE=20001", "KOLDUN_PORT_LLM=20002"}
	want := map[string]struct{ args, env []string }{
		"fetch": {[]string{"--to=/run/p/volumes/model"}, append([]string{"BASE=1", "KOLDUN_DIR_MODEL=/run/p/volumes/model"}, ports...)},
		"engine": {
			[]string{"--port=20001", "/run/p/volumes/model/m", "from 20001"},
			append([]string{
				"BASE=1", "FROM=from 20001", "KOLDUN_DIR_KEPT=/claims/c/a/b", "KOLDUN_DIR_MODEL=/run/p/volumes/model",
				"KOLDUN_DIR_MY_KEYS=/run/p/volumes/my-keys",
			}, ports...),
		},
		"llm": {nil, append(append([]string{"BASE=1"}, ports...), "P_k=v")},
	}
	for _, c := range slices.Concat(p.Inits, p.Containers) {
		if diff := cmp.Diff(want[c.Name].args, c.Args); diff != "" {
			t.Errorf("%s: args: %s", c.Name, diff)
		}
		if diff := cmp.Diff(want[c.Name].env, c.Env); diff != "" {
			t.Errorf("%s: env: %s", c.Name, diff)
		}
	}
	if diff := cmp.Diff([]string{"/run/p/volumes/my-keys/bad=", "/run/p/volumes/my-keys/k"}, slices.Sorted(maps.Keys(p.Files))); diff != "" {
		t.Error(diff)
	}
	llm := p.Containers[1]
	if url := p.Containers[0].Startup.URL; url != "http://127.0.0.1:20002/readyz" {
		t.Errorf("the probe of its own port by name asks %s", url)
	}
	if llm.Readiness.URL != "http://127.0.0.1:20002/readyz" || llm.Liveness.URL != "http://127.0.0.1:20002/healthz" {
		t.Errorf("probes %+v %+v", llm.Readiness, llm.Liveness)
	}
	if p.Grace.Seconds() != 120 || llm.Liveness.Period.Seconds() != 20 || llm.Readiness.Period.Seconds() != 10 {
		t.Errorf("times: %v %v %v", p.Grace, llm.Liveness.Period, llm.Readiness.Period)
	}
	for target, want := range map[NameOrPort]int{{Name: "llm"}: 20002, {Number: 9990}: 20001, {Number: 5}: 5} {
		if got, ok := p.Port(target); !ok || got != want {
			t.Errorf("Port(%v) = %d %v, want %d", target, got, ok, want)
		}
	}
	if _, ok := p.Port(NameOrPort{Name: "none"}); ok {
		t.Error("a port that is not there")
	}
}

func TestResolveRefuses(t *testing.T) {
	container := func(more string) string { return `{"containers": [{"name": "c", "image": "own"` + more + `}]}` }
	cases := map[string]struct {
		spec string
		kind fault.Kind
		want string
	}{
		"Secret":    {container(`, "envFrom": [{"secretRef": {"name": "s"}}]`), fault.NotFound, `there is no Secret "s" yet`},
		"ConfigMap": {container(`, "envFrom": [{"configMapRef": {"name": "s"}}]`), fault.NotFound, `there is no ConfigMap "s" yet`},
		"Key":       {container(`, "env": [{"name": "E", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "x"}}}]`), fault.NotFound, `Secret "keys" has no key "x"`},
		"Field":     {container(`, "env": [{"name": "E", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}]`), fault.Unsupported, `container "c": variable "E" asks for the field "metadata.uid", which pods here do not have`},
		"Source":    {container(`, "env": [{"name": "E", "valueFrom": {}}]`), fault.Unsupported, `container "c": variable "E" has an unknown source`},
		"Mount":     {container(`, "volumeMounts": [{"name": "v"}]`), fault.Invalid, `container "c" mounts volume "v", which the pod does not have`},
		"ProbePort": {container(`, "readinessProbe": {"httpGet": {"port": "x"}}`), fault.Invalid, `container "c" has a probe of port "x", which the container does not declare`},
		"ProbeOfOther": {
			`{"containers": [{"name": "a", "ports": [{"name": "llm", "containerPort": 8081}]}, {"name": "c", "livenessProbe": {"httpGet": {"port": "llm"}}}]}`,
			fault.Invalid, `container "c" has a probe of port "llm", which the container does not declare`,
		},
		"ProbeKind":  {container(`, "readinessProbe": {"tcpSocket": {"port": 1}}`), fault.Unsupported, `container "c" has a probe that is not httpGet`},
		"Volume":     {`{"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}`, fault.Unsupported, `volume "v" is of a kind that pods here cannot have`},
		"VolumeName": {`{"volumes": [{"name": "../v", "emptyDir": {}}]}`, fault.Invalid, `volume "../v": not a name`},
		"ItemPath": {
			`{"volumes": [{"name": "v", "secret": {"secretName": "keys", "items": [{"key": "k", "path": "../x"}]}}]}`,
			fault.Invalid, `volume "v": path "../x" leads out of it`,
		},
		"ClaimName": {`{"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "../c"}}]}`, fault.Unsupported, `volume "v" is of a kind that pods here cannot have`},
		"SubPath": {
			`{"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"name": "c", "volumeMounts": [{"name": "v", "subPath": "/x"}]}]}`,
			fault.Invalid, `container "c": subPath "/x" leads out of the volume`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := resolve(t, c.spec)
			if err == nil || err.Error() != c.want || !fault.Is(err, c.kind) {
				t.Errorf("error = %v (%s)\nwant    %s (%s)", err, fault.KindOf(err), c.want, c.kind)
			}
		})
	}
}

func TestPortsAreDifferent(t *testing.T) {
	p := NewPorts()
	given, err := p.For([]Container{
		{Ports: []ContainerPort{{Name: "a"}, {Name: "b"}, {}}}, {Ports: []ContainerPort{{Name: "a"}, {Name: "c"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(given) != 3 || given["a"] == given["b"] || given["b"] == given["c"] || given["a"] == given["c"] {
		t.Errorf("ports %v", given)
	}
	p.Give(given)
	if len(p.taken) != 0 {
		t.Errorf("%d ports are not given back", len(p.taken))
	}
}

// TestPortsAreNotShared tests that a port belongs to one Ports until it gives the port
// back, though nothing listens on it.
func TestPortsAreNotShared(t *testing.T) {
	p, other := NewPorts(), NewPorts()
	port, err := p.Take()
	if err != nil {
		t.Fatal(err)
	}
	take := func() int {
		t.Helper()
		other.next = port - firstPort
		got, err := other.Take()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := take(); got == port {
		t.Errorf("two took port %d", port)
	}
	p.Give(map[string]int{"a": port})
	if got := take(); got != port {
		t.Errorf("took port %d, want %d, which was given back", got, port)
	}
}
