package root_test

import (
	"testing"

	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/root"
)

const (
	meta   = "apiVersion: koldun.gorizond.io/v1\nkind: Root\nmetadata: {name: r, namespace: ns, generation: 3}\n"
	files  = "modelRef: claim, modelFile: m.m, tokenizerFile: /other/t.t, maxSeqLen: 512, bufferFloatType: q80"
	worker = "apiVersion: koldun.gorizond.io/v1\nkind: Worker\n"
)

func TestRoot(t *testing.T) {
	invalid := map[string][]string{"ingresses": {
		"metadata: {name: a}\nspec: {backend: {nats: {url: 'nats://a:4222'}}}", "metadata: {name: b}\nspec: {backend: {nats: {url: 'nats://b:4222'}}}",
	}}
	connected := map[string]string{"runners": composetest.Ready, "registry": composetest.Ready, "record": composetest.Ready, "root": composetest.OnePod}
	composetest.Table(t, root.Compose, map[string]composetest.Case{
		"Embedded":      {Composite: meta + "spec: {" + files + "}", Reason: reason.RootStarting, Says: "m.m"},
		"Loading":       {Composite: meta + "spec: {" + files + "}", Observed: map[string]string{"pods": "status: {atProvider: {progress: [{pod: r-alone-0, stage: load, percent: 50}]}}"}, Reason: reason.RootStarting, Says: "the root loads m.m: 50%"},
		"EmbeddedReady": {Composite: meta + "spec: {" + files + ", nThreads: 4}", Observed: map[string]string{"root": composetest.OnePod}, Reason: reason.Available, Says: "1 nodes"},
		"KoldunsImage":  {Composite: meta + "spec: {" + files + ", image: 'ghcr.io/gorizond/koldun:v1'}", Reason: reason.RootStarting},
		"NoImageOnTwo":  {Composite: meta + "spec: {" + files + ", workers: ['10.0.0.1:9990']}", Reason: reason.RootStarting},
		"Workers": {
			Composite: meta + "spec: {" + files + ", image: dllama, workers: ['10.0.0.1:9990', '10.0.0.2:9990'], args: [--a, b], resources: {limits: {cpu: 2}}, imagePullPolicy: Always, scheduling: {priorityClassName: high}}",
			Observed:  map[string]string{"root": composetest.OnePod}, Reason: reason.Available, Says: "3 nodes",
		},
		"Selected": {
			Composite: meta + "spec: {" + files + ", image: dllama, workerSelector: {a: b}}",
			Required:  map[string][]string{"workers": {worker + "metadata: {name: z}\nspec: {replicas: 2}", worker + "metadata: {name: a}\nspec: {}"}},
			Reason:    reason.RootStarting,
		},
		"NoneSelected":         {Composite: meta + "spec: {" + files + ", image: dllama, workerSelector: {a: b}}", Required: map[string][]string{"workers": {}}, Reason: reason.WorkersNotFound, Says: `"ns"`},
		"NoneSelectedRunning":  {Composite: meta + "spec: {" + files + ", image: dllama, workerSelector: {a: b}}", Required: map[string][]string{"workers": {}}, Observed: map[string]string{"root": "{}"}, Reason: reason.WorkersNotFound},
		"NotLookedYet":         {Composite: meta + "spec: {" + files + ", image: dllama, workerSelector: {a: b}}", Reason: reason.WorkersNotFound},
		"NotLookedYetRunning":  {Composite: meta + "spec: {" + files + ", image: dllama, workerSelector: {a: b}}", Observed: map[string]string{"root": "{}"}, Reason: reason.RootStarting},
		"Serves":               {Composite: meta + "spec: {" + files + ", serves: ns/m}", Observed: map[string]string{"runners": composetest.Ready, "root": composetest.OnePod}, Reason: reason.Available},
		"ServesPending":        {Composite: meta + "spec: {" + files + ", serves: ns/m}", Reason: reason.ConnectionPending, Says: "being prepared"},
		"ServesPendingRunning": {Composite: meta + "spec: {" + files + ", serves: ns/m}", Observed: map[string]string{"root": composetest.OnePod}, Reason: reason.Available},
		"ServesNowhere":        {Composite: meta + "spec: {" + files + ", serves: ns/m}", Required: invalid, Reason: reason.ConnectionAmbiguous, Says: "spec.nats"},
		"ServesNowhereRunning": {Composite: meta + "spec: {" + files + ", serves: ns/m}", Required: invalid, Observed: map[string]string{"root": composetest.OnePod, "runners": composetest.Ready}, Reason: reason.ConnectionAmbiguous},
		"ServesForeign":        {Composite: meta + "spec: {" + files + ", serves: victim/m}", Required: lists("other"), Observed: map[string]string{"root": composetest.OnePod}, Reason: reason.ServesInvalid, Says: `"victim"`},
		"ServesGranted":        {Composite: meta + "spec: {" + files + ", serves: owner/m}", Required: lists("ns"), Observed: connected, Reason: reason.Available},
		"ServesGrantedPending": {Composite: meta + "spec: {" + files + ", serves: owner/m}", Required: lists("ns"), Observed: map[string]string{"runners": composetest.Ready}, Reason: reason.ConnectionPending},
		"ServesGrantedToAll":   {Composite: meta + "spec: {" + files + ", serves: owner/m}", Required: lists("'*'"), Observed: connected, Reason: reason.Available},
		"ServesNamesake": {
			Composite: meta + "spec: {" + files + ", serves: owner/m}", Required: map[string][]string{"model": lists("ns")["model"], "namesake": {"metadata: {name: m, namespace: ns}"}}, Observed: connected,
			Reason: reason.ServesInvalid, Says: "rename one",
		},
		"Tuned":  {Composite: meta + "spec: {" + files + ", serves: ns/m, answerTimeouts: {grace: 10s, firstToken: 1m}, env: [{name: A, value: b}], envFrom: [{configMapRef: {name: c}}]}", Observed: map[string]string{"runners": composetest.Ready, "root": composetest.OnePod}, Reason: reason.Available},
		"Legacy": {Composite: meta + "spec: {" + files + ", memory: {overheadMaxRatio: 2}, cacheSpec: {bucket: b}, nats: {url: 'nats://h'}}", Reason: reason.RootStarting},
	})
}

// lists is a Model of another namespace that a namespace may use, and that no Model
// here has the name of.
func lists(namespace string) map[string][]string {
	return map[string][]string{"model": {"metadata: {name: m}\nspec: {allowedNamespaces: [" + namespace + "]}"}, "namesake": {}}
}

// TestForeignRootGetsNothing attacks: a Root that names a Model of another
// namespace gets no pod that takes its requests, no matter how it says so or
// what runs already.
func TestForeignRootGetsNothing(t *testing.T) {
	claim := "apiVersion: koldun.gorizond.io/v1\nkind: XRoot\nmetadata: {name: x-1}\nspec: {claimRef: {namespace: attacker, name: r}, " + files
	for name, composite := range map[string]string{
		"Foreign": meta + "spec: {" + files + ", serves: victim/m}",
		"Empty":   meta + "spec: {" + files + ", serves: /m}",
		"Prefix":  meta + "spec: {" + files + ", serves: n/m}",
		"Longer":  meta + "spec: {" + files + ", serves: ns2/m}",
		"Claim":   claim + ", serves: victim/m}",
		"Image":   meta + "spec: {" + files + ", image: evil, serves: victim/m}",
	} {
		running := map[string]string{"root": composetest.OnePod, "runners": composetest.Ready}
		for state, c := range map[string]composetest.Case{
			"New":          {},
			"Denied":       {Required: lists("other")},
			"Lookalike":    {Required: lists("s, nss, 'n'")},
			"Running":      {Required: lists("other"), Observed: running},
			"GoneRunning":  {Required: map[string][]string{"model": {}}, Observed: running},
			"TakenRunning": {Required: map[string][]string{"model": lists("'*'")["model"], "namesake": {"metadata: {name: m}"}}, Observed: running},
		} {
			t.Run(name+state, func(t *testing.T) {
				c.Composite = composite
				rsp := composetest.Run(t, root.Compose, c)
				if got := composetest.Names(rsp); len(got) > 0 {
					t.Errorf("%q are composed", got)
				}
				if got := rsp.GetConditions()[0].GetReason(); got != string(reason.ServesInvalid) {
					t.Errorf("the reason is %q, want %q", got, reason.ServesInvalid)
				}
			})
		}
	}
	own := composetest.Run(t, root.Compose, composetest.Case{Composite: claim + ", serves: attacker/m}", Observed: map[string]string{"runners": composetest.Ready}})
	if len(composetest.Names(own)) == 0 {
		t.Error("a Root of its own namespace is refused")
	}
}

func TestRootWithoutNamespaceIsRefused(t *testing.T) {
	composetest.Refuses(t, root.Compose, "apiVersion: koldun.gorizond.io/v1\nkind: Root\nmetadata: {name: r}\nspec: {}")
}
