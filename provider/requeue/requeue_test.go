package requeue_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/gorizond/koldun/provider/requeue"
)

func key(kind, name string) requeue.Key {
	return requeue.Key{Kind: kind, NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}
}

// queue returns the queue of a kind on a tracker.
func queue(t *testing.T, b *requeue.Tracker, kind string) requeue.Queue {
	t.Helper()
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(q.ShutDown)
	if err := b.Source(kind).Start(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	return q
}

// waiting drains a queue and returns the names in it.
func waiting(q requeue.Queue) (out []string) {
	for q.Len() > 0 {
		r, _ := q.Get()
		q.Done(r)
		out = append(out, r.Name)
	}
	slices.Sort(out)
	return out
}

func TestWhoHasReadIsWoken(t *testing.T) {
	b := requeue.NewTracker()
	streams, buckets := queue(t, b, "Stream"), queue(t, b, "Bucket")
	secret, config := key("Secret", "s"), key("ProviderConfig", "p")
	for _, owner := range []requeue.Key{key("Stream", "a"), key("Stream", "b"), key("Bucket", "c")} {
		b.Read(owner, config)
	}
	b.Read(key("Stream", "a"), secret)
	b.Read(key("Token", "t"), secret) // its controller does not run

	b.Changed(secret)
	if s, o := waiting(streams), waiting(buckets); !slices.Equal(s, []string{"a"}) || len(o) > 0 {
		t.Errorf("the Secret wakes %v and %v, want a alone", s, o)
	}
	b.Changed(config)
	if s, o := waiting(streams), waiting(buckets); !slices.Equal(s, []string{"a", "b"}) || !slices.Equal(o, []string{"c"}) {
		t.Errorf("the config wakes %v and %v, want a and b, and c", s, o)
	}
	b.Changed(key("Secret", "other"))
	if s := waiting(streams); len(s) > 0 {
		t.Errorf("an object that no resource has read wakes %v", s)
	}
}

func TestForgetIsForOneOnly(t *testing.T) {
	b := requeue.NewTracker()
	q := queue(t, b, "Stream")
	secret := key("Secret", "s")
	b.Read(key("Stream", "a"), secret)
	b.Read(key("Stream", "b"), secret)
	if got := b.ReadBy(key("Stream", "a")); !slices.Equal(got, []requeue.Key{secret}) {
		t.Errorf("a has read %v, want the Secret", got)
	}
	b.Forget(key("Stream", "a"))
	b.Changed(secret)
	if got := waiting(q); !slices.Equal(got, []string{"b"}) {
		t.Errorf("%v are woken, want b", got)
	}
	if got := b.ReadBy(key("Stream", "a")); len(got) > 0 {
		t.Errorf("the tracker reports that a has read %v", got)
	}
}
