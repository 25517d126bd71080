package e2e_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gorizond/koldun/internal/external/demand"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/cluster/budget"
	"github.com/gorizond/koldun/test/cluster/simulate"
)

const (
	// providerPace is the duration of one write of the provider, including the
	// observation of the external resource.
	providerPace = 50 * time.Millisecond
	// kubeletPace is the duration of one step of one pod.
	kubeletPace = 50 * time.Millisecond
	// jobTakes is the duration of a Job: scheduling, pulling the image, connecting
	// and copying files. With 5 seconds, as for a tiny model and a cached image, a
	// Dllama with its own Model and Ingress nearly exhausts its budget.
	jobTakes = 15 * time.Second
	// podTakes is the time until a pod is ready.
	podTakes = 3 * time.Second
)

// A simulation is the simulated kubelet and provider of a cluster.
type simulation struct {
	mu   sync.Mutex
	made map[string]map[string]any // output of Jobs, by URL
	live map[string]demand.Status  // demanded pools, by namespace
	*applier
}

// simulate starts the simulation, and calls watch.
func (p *suite) simulate(t *testing.T) {
	p.simulation = &simulation{made: map[string]map[string]any{}, live: map[string]demand.Status{}, applier: newApplier(t, p.Config())}
	simulate.Start(t, p.Config(),
		simulate.Kubelet{Behavior: p.behavior, Pace: kubeletPace},
		simulate.Provider{Group: "koldun.m.gorizond.io", Observe: p.observe, Pace: providerPace})
	t.Cleanup(func() { p.cleanup.vacate(t) })
	p.watch(t)
}

// watch starts recording the objects of Koldun and counting budgets.
func (p *suite) watch(t *testing.T) {
	composites := []string{"models", "dllamas", "roots", "workers", "sessions", "ingresses", "modeldownloads", "modelorchestras"}
	composed := kinds("koldun.m.gorizond.io", "v1alpha1", "buckets", "streams", "keyvalues", "queues", "hubrevisions", "modelartifacts", "modelrecords",
		"tokensets", "demands", "parts", "pools", "providerconfigs", "workloadstatuses", "natsusers")
	composed = append(composed, kinds("apps", "v1", "deployments", "statefulsets")...)
	composed = append(composed, kinds("batch", "v1", "jobs")...)
	composed = append(composed, kinds("policy", "v1", "poddisruptionbudgets")...)
	composed = append(composed, kinds("networking.k8s.io", "v1", "ingresses", "networkpolicies")...)
	composed = append(composed, kinds("", "v1", "services", "secrets", "persistentvolumeclaims", "persistentvolumes")...)
	if p.prefix != "" {
		// Claims compose nothing; their composites compose claims.
		composed = append(composed, kinds("koldun.gorizond.io", "v1", composites...)...)
		for i := range composites {
			composites[i] = p.prefix + composites[i]
		}
	}
	p.budgets.counter = budget.Start(t, p.Config(), budget.Options{Group: "koldun.gorizond.io", Composites: composites, Composed: composed})
	p.watched = slices.Concat(composed, kinds("koldun.gorizond.io", "v1", composites...), kinds("", "v1", "pods"))
	p.recorder = record(t, p.Config(), p.watched)
}

func kinds(group, version string, resources ...string) []schema.GroupVersionResource {
	out := make([]schema.GroupVersionResource, len(resources))
	for i, r := range resources {
		out[i] = schema.GroupVersionResource{Group: group, Version: version, Resource: r}
	}
	return out
}

// behavior returns the behavior of a pod. The pod of a Job runs for jobTakes and then
// records its output.
func (s *simulation) behavior(pod *corev1.Pod) simulate.Behavior {
	if pod.Labels["job-name"] == "" {
		if time.Since(pod.CreationTimestamp.Time) < podTakes {
			return simulate.Unready()
		}
		return simulate.Run()
	}
	if time.Since(pod.CreationTimestamp.Time) < jobTakes {
		return simulate.Unready()
	}
	url, found := output(pod)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made[url] = found
	return simulate.Run()
}

// output is what the Job of a pod has found or made, and its URL.
func output(pod *corev1.Pod) (url string, found map[string]any) {
	args := pod.Spec.Containers[0].Args
	found = map[string]any{"whole": true}
	if slices.Contains(args, "inspect") {
		found["sizeBytes"], found["weights"], found["shape"] = 4<<30, "q40", map[string]any{ // for up to 16 nodes
			"arch": "llama", "dim": 4096, "hiddenDim": 14336, "layers": 32, "heads": 32, "kvHeads": 16,
			"headDim": 128, "vocabSize": 128256, "seqLen": 8192, "weights": "q40",
		}
		claim := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil })
		return names.VolumeURL(pod.Spec.Volumes[claim].PersistentVolumeClaim.ClaimName, option(args, "--model")), found
	}
	if weights, name := option(args, "--weights"), option(args, "--name"); weights != "" {
		found["weights"] = weights
		found["modelFile"], found["tokenizerFile"] = names.ModelFile(name, weights), names.TokenizerFile(name)
	}
	return option(args, "--to"), found
}

func option(args []string, name string) string {
	at := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, name+"=") })
	if at < 0 {
		return ""
	}
	return strings.TrimPrefix(args[at], name+"=")
}

// observe returns what the provider observes.
func (s *simulation) observe(o *unstructured.Unstructured) simulate.Observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := simulate.Observation{Connection: map[string]string{"NATS_URL": "nats://nats:4222", "AWS_ENDPOINT_URL_S3": "http://s3:9000"}}
	switch o.GetKind() {
	case "HubRevision":
		out.AtProvider = map[string]any{"commit": strings.Repeat("0", 40), "ports": []int32{443}}
	case "Bucket":
		out.AtProvider = map[string]any{"ports": []int32{443}}
	case "KeyValue", "Queue":
		out.AtProvider = map[string]any{"ports": []int32{4222}}
	case "ModelArtifact":
		url, _, _ := unstructured.NestedString(o.Object, "spec", "forProvider", "url")
		out.AtProvider, out.Unready = s.made[url], "there is no manifest yet"
		if s.made[url] != nil {
			out.Unready = ""
		} else {
			out.AtProvider = nil
		}
	case "Part":
		out.AtProvider, out.Unready = s.part(o)
	case "Pool":
		least, _, _ := unstructured.NestedInt64(o.Object, "spec", "forProvider", "minMembers")
		out.AtProvider, out.Unready = s.pool(o, int(max(least, 1)))
	case "Demand":
		out.AtProvider, out.Unready = s.live[o.GetNamespace()], s.demand(o, s.live[o.GetNamespace()])
	}
	return out
}

// ask adds demand for a pool.
func (s *simulation) ask(namespace, key, model string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.live[namespace]
	now.Sessions = append(slices.Clone(now.Sessions), demand.Session{Key: key, Model: model})
	s.live[namespace] = now
}
