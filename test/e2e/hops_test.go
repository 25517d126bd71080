package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
)

// Hops of a request for a model that nobody serves.
const (
	hopPublished = "request published"
	hopKey       = "demand key"
	hopDemand    = "Demand status"
	hopSession   = "Session created"
	hopDllama    = "Dllama created"
	hopWorkload  = "workloads created"
	hopPod       = "pod running"
	hopText      = "first byte"
)

func hopNames() []string {
	return []string{hopPublished, hopKey, hopDemand, hopSession, hopDllama, hopWorkload, hopPod, hopText}
}

// hops notes when each hop was first seen since begin, by watches, as a stop
// watch. Safe for concurrent use.
type hops struct {
	mu      sync.Mutex
	began   time.Time
	reached map[string]time.Duration
	runs    []map[string]time.Duration
	members int // Dllamas that were ever made
	seen    map[string]bool
	ids     []string // of all requests
	phases  *phases  // of the members of pools
}

// newHops watches a namespace.
func newHops(t *testing.T, p *proof, namespace string) *hops {
	t.Helper()
	h := &hops{reached: map[string]time.Duration{}, seen: map[string]bool{}, phases: newPhases()}
	h.follow(t, p.services)
	client, err := dynamic.NewForConfig(p.Config())
	if err != nil {
		t.Fatal(err)
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
	for _, gvr := range slices.Concat(
		kinds("koldun.m.gorizond.io", "v1alpha1", "demands", "pools"), kinds("koldun.gorizond.io", "v1", "sessions", "dllamas"),
		kinds("apps", "v1", "statefulsets"), kinds("", "v1", "pods"),
	) {
		h.watch(t, factory, gvr)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() {
		stop()
		factory.Shutdown()
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return h
}

// follow requests and demand.
func (h *hops) follow(t *testing.T, o *services) {
	t.Helper()
	conn, err := nats.Connect(o.nats.URL(), nats.UserInfo(natstest.User, natstest.Password))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	for subject, hop := range map[string]string{names.RequestSubjects: hopPublished, "$KV." + names.DemandBucket + ".>": hopKey} {
		if _, err := conn.Subscribe(subject, func(m *nats.Msg) {
			if id := m.Header.Get(nats.MsgIdHdr); hop == hopPublished {
				h.mu.Lock()
				h.ids = append(h.ids, id)
				h.mu.Unlock()
			}
			h.reach(hop)
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
}

func (h *hops) watch(t *testing.T, factory dynamicinformer.DynamicSharedInformerFactory, gvr schema.GroupVersionResource) {
	t.Helper()
	note := func(obj any) {
		o, ok := obj.(*unstructured.Unstructured)
		if !ok || o.GetDeletionTimestamp() != nil {
			return
		}
		switch o.GetKind() {
		case "Demand":
			if list, _, _ := unstructured.NestedSlice(o.Object, "status", "atProvider", "sessions"); len(list) > 0 {
				h.reach(hopDemand)
			}
		case "Pool":
			h.phases.note(o)
		case "Session":
			h.reach(hopSession)
		case "Dllama":
			h.member(o)
			h.reach(hopDllama)
		case "StatefulSet":
			h.reach(hopWorkload)
		case "Pod":
			phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
			if _, ofSet := o.GetLabels()["statefulset.kubernetes.io/pod-name"]; ofSet && phase == "Running" {
				h.reach(hopPod)
			}
		}
	}
	if _, err := factory.ForResource(gvr).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: note, UpdateFunc: func(_, obj any) { note(obj) },
	}); err != nil {
		t.Fatal(err)
	}
}

// member counts Dllamas.
func (h *hops) member(o *unstructured.Unstructured) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if uid := string(o.GetUID()); !h.seen[uid] {
		h.seen[uid] = true
		h.members++
	}
}

func (h *hops) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.began, h.reached = time.Now(), map[string]time.Duration{}
}

func (h *hops) reach(hop string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.reached[hop]; !ok {
		h.reached[hop] = time.Since(h.began)
	}
}

// end a run. Its hops are counted.
func (h *hops) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs = append(h.runs, h.reached)
}

// made counts the Dllamas that there ever were.
func (h *hops) made() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.members
}

// requests are the ids of all.
func (h *hops) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.ids)
}

// table of the time from the request to each hop.
func (h *hops) table() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%-20s %8s %8s  of %d cold starts\n", "since the request", "p50", "p99", len(h.runs))
	for _, hop := range hopNames() {
		var all []time.Duration
		for _, run := range h.runs {
			if d, ok := run[hop]; ok {
				all = append(all, d)
			}
		}
		if len(all) == 0 {
			continue
		}
		slices.Sort(all)
		fmt.Fprintf(&b, "%-20s %8s %8s\n", hop, quantile(all, 50), quantile(all, 99))
	}
	return b.String()
}

// quantile of sorted durations, the nearest above.
func quantile(all []time.Duration, percent int) time.Duration {
	return all[(len(all)*percent+99)/100-1].Round(time.Millisecond)
}
