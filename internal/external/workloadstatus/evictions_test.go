package workloadstatus

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/test/waittest"
)

func evictedPod(name string, uid types.UID) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: uid},
		Status:     corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "Pod ephemeral local storage usage exceeds the total limit of containers 1Mi."},
	}
}

func TestEvictions(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var e evictions
	e.note(now, evictedPod("tiny-root-0", "1"))
	e.note(now.Add(time.Minute), cache.DeletedFinalStateUnknown{Obj: evictedPod("tiny-root-0", "1")})
	ended := evictedPod("failed", "2")
	ended.Status.Reason = "Error"
	e.note(now, ended)
	e.note(now, &corev1.Event{})
	got := e.missing(now, nil)
	if len(got) != 1 || got[0].InvolvedObject.Name != "tiny-root-0" || got[0].InvolvedObject.UID != "1" || got[0].Message != evictedPod("", "").Status.Message || !got[0].LastTimestamp.Time.Equal(now) {
		t.Errorf("missing are %+v", got)
	}
	if left := e.missing(now, got); len(left) > 0 {
		t.Errorf("missing are %+v, though there are events", left)
	}
	if left := e.missing(now.Add(remembered+time.Second), nil); len(left) > 0 {
		t.Errorf("after %s missing are %+v", remembered, left)
	}
	e.note(now.Add(2*remembered), evictedPod("other-root-0", "3"))
	if len(e.last) != 1 {
		t.Errorf("%d evictions are remembered", len(e.last))
	}
}

// The pod is gone before anybody looks, and there is no event.
func TestScenesTellEvictions(t *testing.T) {
	clients := fake.NewClientset()
	n := newNamespace(clients, "ns")
	news, stop := n.feed.Follow(feed.Everyone)
	defer stop()
	pods := clients.CoreV1().Pods("ns")
	seen := func(what string, wanted func(pods int, evicted []types.UID) bool) {
		t.Helper()
		for {
			waittest.Receive(t, what, news)
			scene, err := n.scene(labels.Everything())
			if err != nil {
				t.Fatal(err)
			}
			if scene == nil {
				continue
			}
			var evicted []types.UID
			for _, e := range scene.Events {
				evicted = append(evicted, e.InvolvedObject.UID)
			}
			if wanted(len(scene.Pods), evicted) {
				return
			}
		}
	}
	seen("the first lists", func(int, []types.UID) bool { return true })
	if _, err := pods.Create(t.Context(), evictedPod("tiny-root-0", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	seen("the evicted pod", func(pods int, _ []types.UID) bool { return pods == 1 })
	if err := pods.Delete(t.Context(), "tiny-root-0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	seen("the eviction without the pod", func(pods int, evicted []types.UID) bool { return pods == 0 && slices.Contains(evicted, "1") })
}
