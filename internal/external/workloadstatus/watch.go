package workloadstatus

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/internal/external/workloadstatus/diagnose"
)

// Watch calls changed when there is another problem, or none any more, and that has
// lasted for some seconds, and now and then while pods make progress. Other changes of
// pods cause no call. All resources of a namespace share one watch. Watch returns nil
// when ctx ends.
func (c *Client) Watch(ctx context.Context, s Spec, changed func()) error {
	n := c.namespace(s.Namespace)
	news, stop := n.feed.Follow(feed.Everyone)
	defer stop()
	var rooms <-chan struct{}
	if len(s.Planned) > 0 {
		followed, leave := c.cluster.feed.Follow(feed.Everyone)
		defer leave()
		rooms = followed
	}
	load := counter{cluster: c.cluster}
	found := c.begin(s.Owner)
	defer c.forget(s.Owner, found)
	selector := labels.SelectorFromSet(s.Selector)
	state := settler{reported: s.Known.Diagnosis, next: s.Known.Diagnosis}
	pace := pacer{reported: s.Known.Progress, at: time.Now()}
	answers, answered, wake := []PodProgress(nil), make(chan []PodProgress), make(chan struct{}, 1)
	if s.ProgressPort != "" {
		var asking sync.WaitGroup
		defer asking.Wait()
		asking.Go(func() {
			follow(ctx, wake, func() []target { return targets(n.pods(selector), s.ProgressPort) }, answered)
		})
	}
	again := time.NewTimer(0)
	defer again.Stop()
	failed := "" // the last error that was told
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-news:
			select {
			case wake <- struct{}{}:
			default: // it will look anyway
			}
		case <-rooms:
		case answers = <-answered:
		case <-again.C:
		}
		scene, err := n.scene(selector)
		if err != nil || scene == nil {
			if err != nil && (failed == "" || !diagnose.Same(failed, err.Error())) {
				failed = err.Error()
				c.note(found, Status{state.reported, pace.reported}, err)
				changed()
			}
			continue
		}
		now := time.Now()
		counted := time.Duration(0)
		if len(s.Planned) > 0 {
			scene.Labels, scene.Planned, scene.Nodes = s.Selector, s.Planned, c.cluster.nodes()
			scene.Used, counted = load.count(ctx, now, scene.Candidates())
		}
		told, wait := state.settle(now, diagnose.Diagnose(*scene))
		advanced, lag := pace.settle(now, answers)
		if next := earliest(counted, earliest(wait, lag)); next > 0 {
			again.Reset(next)
		}
		c.note(found, Status{state.reported, pace.reported}, nil)
		if told || advanced || failed != "" {
			failed = ""
			changed()
		}
	}
}

// earliest returns the shorter of two times, of which 0 means never.
func earliest(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
