package e2e_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/node"
)

const (
	hollow  = "example.org/hollow:1" // an image without any program
	private = "private.example.org/engine:1"
	strict  = "example.org/strict:1" // an image whose program refuses arguments as vLLM does
)

// A mistake is what a user gets wrong, and what the condition Serving says of it.
type mistake struct {
	kind, manifest string
	namespace      string // what is in its namespace, if it needs one of its own
	condition      string // that says what is wrong; empty is Serving
	reason         string
	says           []string
}

func dllamaWith(spec string) mistake {
	return mistake{kind: "Dllama", manifest: "apiVersion: koldun.gorizond.io/v1\nkind: Dllama\nmetadata: {name: NAME}\nspec: {" + spec + "}"}
}

// served is a Dllama with a server that gets its model by itself.
func served(server, more string) mistake {
	return dllamaWith("engine: {type: openai, server: {profile: vllm, source: download, model: org/tiny" + server + "}}" + more)
}

func (m mistake) is(reason string, says ...string) mistake {
	m.reason, m.says = reason, says
	return m
}

// beside is of what is served all the same.
func (m mistake) beside(condition string) mistake {
	m.condition = condition
	return m
}

func (m mistake) in(manifest string) mistake {
	m.namespace = manifest
	return m
}

func podMistakes() map[string]mistake {
	return map[string]mistake{
		"image": served("", ", rootImage: example.org/missing:1").
			is("ImageUnavailable", "example.org/missing:1", "not found", "correct spec.rootImage"),
		"private": served("", ", rootImage: "+private).
			is("ImageUnavailable", "unauthorized", "spec.scheduling.imagePullSecrets"),
		"selector": served("", ", rootImage: "+hollow+", scheduling: {nodeSelector: {gpu: a100}}").
			is("Unschedulable", "spec.scheduling.nodeSelector"), // said of the nodes before the pod exists, and then by the scheduler
		"requests": served("", ", rootImage: "+hollow+", rootResources: {requests: {memory: 100Ti}}").
			is("Unschedulable", "memory", "spec.rootResources"),
		"gpu": served("", ", rootImage: "+hollow+", rootResources: {limits: {nvidia.com/gpu: '1'}}").
			is("Unschedulable", "nvidia.com/gpu", "spec.rootResources"),
		"secret": served(", env: [{name: HF_TOKEN, valueFrom: {secretKeyRef: {name: absent, key: token}}}]", ", rootImage: "+hollow).
			is("ConfigMissing", "absent"),
		"program": served(", command: [/no/such/program]", ", rootImage: "+hollow).
			is("ProgramMissing", "/no/such/program", "spec.rootImage"),
		"account": served("", ", rootImage: "+hollow+", scheduling: {serviceAccountName: absent}").
			is("PodRefused", `serviceaccount "absent" not found`, "serviceAccountName"),
		"priority": served("", ", rootImage: "+hollow+", scheduling: {priorityClassName: absent}").
			is("PodRefused", "PriorityClass", "priorityClassName"),
		"limits": served("", ", rootImage: "+hollow+", rootResources: {limits: {memory: 2Gi}}").
			in("apiVersion: v1\nkind: LimitRange\nmetadata: {name: small}\nspec: {limits: [{type: Container, max: {memory: 1Gi}}]}").
			is("QuotaExceeded", "maximum memory usage per Container is 1Gi"),
		"gateway": mistake{kind: "Ingress", manifest: "apiVersion: koldun.gorizond.io/v1\nkind: Ingress\nmetadata: {name: NAME}\nspec: {backend: {image: 'example.org/missing:1'}}"}.
			is("ImageUnavailable", "example.org/missing:1", "spec.backend.image"),
		"memory": mistake{kind: "Ingress", manifest: "apiVersion: koldun.gorizond.io/v1\nkind: Ingress\nmetadata: {name: NAME}\nspec: {backend: {resources: {limits: {memory: 1Mi}}}}"}.
			is("OutOfMemory", "memory limit of 1Mi", "spec.backend.resources.limits.memory"),
		"engine": mistake{kind: "Worker", manifest: "apiVersion: koldun.gorizond.io/v1\nkind: Worker\nmetadata: {name: NAME}\nspec: {image: '" + hollow + "'}"}.
			is("ProgramMissing", "cannot supervise program", "dllama"),
	}
}

// all returns all of them.
func (ms *mistakes) all(t *testing.T) map[string]mistake {
	t.Helper()
	out := podMistakes()
	maps.Copy(out, referenceMistakes())
	maps.Copy(out, ms.ofCluster(t))
	maps.Copy(out, ms.ofServers(ms.brokenHub(t)))
	maps.Copy(out, ms.ofRoom(t))
	return out
}

// refuses prints its usage and ends.
const refuses = "echo 'usage: serve [-h] [--model MODEL]' >&2\necho \"serve: error: unrecognized arguments: $*\" >&2\nexit 2"

// serves returns a folder with a program called serve, which runs a script.
func serves(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "serve"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// enough is how many mistakes are tried at least.
const enough = 20

// TestMistakes tests that what a user gets wrong is in the condition of the claim, with
// the mend. It prints how long that takes from when the cluster shows it.
func TestMistakes(t *testing.T) {
	t.Parallel()
	// Nobody can delete what some mistakes leave, so no other test shares the cluster.
	p := newSuite(cluster.Start(t, cluster.Options{}), flavours()["Namespaced"], build(t))
	p.installer.install(t)
	p.watch(t)
	p.processes.start(t, func(o *node.Options) {
		o.Strict = true
		o.Programs[hollow], o.Programs[strict], o.Programs[greedy] = t.TempDir(), serves(t, refuses), serves(t, fills)
		o.Registry = func(image string) string {
			if image == private {
				return fmt.Sprintf("failed to resolve reference %q: failed to authorize: unexpected status: 401 Unauthorized", image)
			}
			return fmt.Sprintf("failed to resolve reference %q: %s: not found", image, image)
		}
	})
	p.registerNode(t, node.Name)
	shared, seen := p.Namespace(t), p.watchSymptoms(t)
	mistakes := p.mistakes.all(t)
	if len(mistakes) < enough {
		t.Errorf("there are %d mistakes, want %d at least", len(mistakes), enough)
	}
	var all sync.WaitGroup
	for name, m := range mistakes {
		all.Go(func() { t.Run(name, func(t *testing.T) { p.mistakes.test(t, seen, shared, name, m) }) })
	}
	all.Wait()
	t.Logf("budgets:\n%s", p.budgets.counter.Report(""))
	p.budgets.noneOpened(t)
}

func (ms *mistakes) test(t *testing.T, seen *symptoms, ns, name string, m mistake) {
	if m.namespace != "" {
		ns = ms.Namespace(t)
		if err := ms.ApplyIn(t.Context(), ns, m.namespace); err != nil {
			t.Fatal(err)
		}
		if err := ms.countQuotas(t.Context(), ns); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	if err := ms.ApplyIn(t.Context(), ns, strings.ReplaceAll(m.manifest, "NAME", name)); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the condition to say what is wrong", func(ctx context.Context) error {
		obj, err := ms.get(ctx, ns, api, m.kind, name)
		if err != nil {
			return err
		}
		serving := conditionOf(obj, cmp.Or(m.condition, "Serving"))
		if serving["reason"] != m.reason {
			return fmt.Errorf("the condition is %v, want reason %s", serving, m.reason)
		}
		for _, text := range m.says {
			if !strings.Contains(fmt.Sprint(serving["message"]), text) {
				return fmt.Errorf("the message is %q, want it to say %q", serving["message"], text)
			}
		}
		named := time.Now()
		known := seen.since(began, named, ns, name)
		t.Logf("%.1f s after the cluster shows it, %.1f s after the claim: %s", named.Sub(known).Seconds(), named.Sub(began).Seconds(), serving["message"])
		return nil
	})
}
