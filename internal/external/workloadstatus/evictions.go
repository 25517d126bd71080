package workloadstatus

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

const (
	reasonEvicted = "Evicted"
	// remembered is how long evictions are remembered: as long as API servers keep events.
	remembered = time.Hour
)

// evictions remember why nodes have ended pods, as the events that say so. A controller
// replaces an evicted pod at once, and the kubelet drops its event if the pod has had 25 in
// the minutes before, as those of a probe that fails. Evictions are safe for concurrent use.
type evictions struct {
	mu   sync.Mutex
	last map[string]*corev1.Event // by the name of the pod
}

// note remembers a pod, or one that is deleted, if a node has ended it.
func (e *evictions) note(now time.Time, obj any) {
	if deleted, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = deleted.Obj
	}
	p, ok := obj.(*corev1.Pod)
	if !ok || p.Status.Phase != corev1.PodFailed || p.Status.Reason != reasonEvicted {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if had := e.last[p.Name]; had != nil && had.InvolvedObject.UID == p.UID {
		return
	}
	for name, event := range e.last {
		if old(now, event) {
			delete(e.last, name)
		}
	}
	if e.last == nil {
		e.last = map[string]*corev1.Event{}
	}
	e.last[p.Name] = &corev1.Event{
		Type: corev1.EventTypeWarning, Reason: reasonEvicted, Message: p.Status.Message, LastTimestamp: metav1.NewTime(now),
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID},
	}
}

// missing returns the evictions of which there is no event.
func (e *evictions) missing(now time.Time, events []*corev1.Event) []*corev1.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []*corev1.Event
	for _, one := range e.last {
		if !old(now, one) && !slices.ContainsFunc(events, func(had *corev1.Event) bool {
			return had.Reason == reasonEvicted && had.InvolvedObject.UID == one.InvolvedObject.UID
		}) {
			out = append(out, one)
		}
	}
	return out
}

func old(now time.Time, e *corev1.Event) bool { return now.Sub(e.LastTimestamp.Time) > remembered }
