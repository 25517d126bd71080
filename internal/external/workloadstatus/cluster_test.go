package workloadstatus

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/gorizond/koldun/internal/external/workloadstatus/diagnose"
	"github.com/gorizond/koldun/test/waittest"
)

func memory(text string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(text)}
}

func withMemory(name, allocatable string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: memory(allocatable)}}
}

// A planned pod that no node can hold is told before it exists, and no longer once a node
// has room for it.
func TestPlannedPodsNeedRoom(t *testing.T) {
	clients := fake.NewClientset(withMemory("small", "1Gi"))
	c := New(clients)
	spec := Spec{Namespace: "ns", Owner: "o", Selector: map[string]string{"koldun.gorizond.io/dllama": "d"}, Planned: []diagnose.Planned{
		{Component: "root", Count: 1, Requests: memory("2Gi")},
	}}
	ctx, cancel := context.WithCancel(t.Context())
	changed, ended := make(chan struct{}, 8), make(chan error, 1)
	go func() { ended <- c.Watch(ctx, spec, func() { changed <- struct{}{} }) }()
	told := func() diagnose.Diagnosis {
		waittest.Receive(t, "the news", changed)
		o, err := c.Observe(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return o.Status.Diagnosis
	}
	if got := told(); got.Reason != diagnose.Unschedulable || !strings.Contains(got.Message, "no node has 2.0 GiB of memory") {
		t.Errorf("the diagnosis is %+v", got)
	}
	if _, err := clients.CoreV1().Nodes().Create(ctx, withMemory("large", "4Gi"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := told(); got.Reason != "" {
		t.Errorf("with a node that has room, the diagnosis is %+v", got)
	}
	cancel()
	if err := waittest.Receive(t, "the end", ended); err != nil {
		t.Error(err)
	}
}

// The pods of nodes are counted again after a minute, or if other nodes matter.
func TestCounter(t *testing.T) {
	on := func(name, node, requests string, phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
			Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: memory(requests)}}}},
			Status:     corev1.PodStatus{Phase: phase},
		}
	}
	clients := fake.NewClientset(on("a", "n", "1Gi", corev1.PodRunning), on("b", "n", "2Gi", corev1.PodPending), on("over", "n", "4Gi", corev1.PodSucceeded))
	count, now := counter{cluster: newCluster(clients)}, time.Unix(1_000_000, 0)
	step := func(after time.Duration, want string, again time.Duration, nodes ...string) {
		t.Helper()
		now = now.Add(after)
		used, wait := count.count(t.Context(), now, nodes)
		got := used["n"][corev1.ResourceMemory]
		if got.String() != want || wait != again {
			t.Errorf("used is %s, again after %v, want %s and %v", got.String(), wait, want, again)
		}
	}
	step(0, "3Gi", countEvery, "n")
	if err := clients.CoreV1().Pods("ns").Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	step(time.Second, "3Gi", countEvery-time.Second, "n")
	step(countEvery, "2Gi", countEvery, "n")
	if err := clients.CoreV1().Pods("ns").Delete(t.Context(), "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	step(time.Second, "0", countEvery, "n", "other")
	step(time.Second, "0", 0)
}
