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

	"github.com/gorizond/koldun/internal/names"
)

// Steps of a cold start: a request for a model without a pool.
const (
	stepPublished = "request published"
	stepKey       = "demand key"
	stepDemand    = "Demand status"
	stepSession   = "Session created"
	stepDllama    = "Dllama created"
	stepWorkload  = "workloads created"
	stepPod       = "pod running"
	stepText      = "first byte"
)

func stepNames() []string {
	return []string{stepPublished, stepKey, stepDemand, stepSession, stepDllama, stepWorkload, stepPod, stepText}
}

// A timeline records when watches first see each step of a cold start. It is
// safe for concurrent use.
type timeline struct {
	mu      sync.Mutex
	began   time.Time
	reached map[string]time.Duration
	runs    []map[string]time.Duration
	members int // Dllamas ever created
	seen    map[string]bool
	ids     []string // of all requests
	phases  *phases  // of the members of pools
}

// newTimeline watches the namespace until the test ends.
func newTimeline(t *testing.T, s *serving) *timeline {
	t.Helper()
	h := &timeline{reached: map[string]time.Duration{}, seen: map[string]bool{}, phases: newPhases()}
	h.follow(t, s.bus.Conn())
	client, err := dynamic.NewForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, s.ns, nil)
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

// follow records published requests and demand.
func (h *timeline) follow(t *testing.T, conn *nats.Conn) {
	t.Helper()
	for subject, step := range map[string]string{names.RequestSubjects: stepPublished, "$KV." + names.DemandBucket + ".>": stepKey} {
		if _, err := conn.Subscribe(subject, func(m *nats.Msg) {
			if id := m.Header.Get(nats.MsgIdHdr); step == stepPublished {
				h.mu.Lock()
				h.ids = append(h.ids, id)
				h.mu.Unlock()
			}
			h.reach(step)
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
}

func (h *timeline) watch(t *testing.T, factory dynamicinformer.DynamicSharedInformerFactory, gvr schema.GroupVersionResource) {
	t.Helper()
	note := func(obj any) {
		o, ok := obj.(*unstructured.Unstructured)
		if !ok || o.GetDeletionTimestamp() != nil {
			return
		}
		switch o.GetKind() {
		case "Demand":
			if list, _, _ := unstructured.NestedSlice(o.Object, "status", "atProvider", "sessions"); len(list) > 0 {
				h.reach(stepDemand)
			}
		case "Pool":
			h.phases.note(o)
		case "Session":
			h.reach(stepSession)
		case "Dllama":
			h.member(o)
			h.reach(stepDllama)
		case "StatefulSet":
			h.reach(stepWorkload)
		case "Pod":
			phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
			if _, ofSet := o.GetLabels()["statefulset.kubernetes.io/pod-name"]; ofSet && phase == "Running" {
				h.reach(stepPod)
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
func (h *timeline) member(o *unstructured.Unstructured) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if uid := string(o.GetUID()); !h.seen[uid] {
		h.seen[uid] = true
		h.members++
	}
}

func (h *timeline) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.began, h.reached = time.Now(), map[string]time.Duration{}
}

func (h *timeline) reach(step string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.reached[step]; !ok {
		h.reached[step] = time.Since(h.began)
	}
}

// end closes a cold start and keeps its times.
func (h *timeline) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs = append(h.runs, h.reached)
}

// made returns the number of Dllamas ever created.
func (h *timeline) made() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.members
}

// requests returns the ids of all requests.
func (h *timeline) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.ids)
}

// table lists the time from the request to each step.
func (h *timeline) table() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%-20s %8s %8s  of %d cold starts\n", "since the request", "p50", "p99", len(h.runs))
	for _, step := range stepNames() {
		var all []time.Duration
		for _, run := range h.runs {
			if d, ok := run[step]; ok {
				all = append(all, d)
			}
		}
		if len(all) == 0 {
			continue
		}
		slices.Sort(all)
		fmt.Fprintf(&b, "%-20s %8s %8s\n", step, quantile(all, 50), quantile(all, 99))
	}
	return b.String()
}

// quantile returns the given percentile of sorted durations, by nearest rank.
func quantile(all []time.Duration, percent int) time.Duration {
	return all[(len(all)*percent+99)/100-1].Round(time.Millisecond)
}
