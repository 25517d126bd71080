package workloadstatus

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/internal/external/workloadstatus/diagnose"
)

// Watch calls changed when there is another problem, or none any more, and that has
// lasted for some seconds. Other changes of pods cause no call. All resources of a
// namespace share one watch. Watch returns nil when ctx ends.
func (c *Client) Watch(ctx context.Context, s Spec, changed func()) error {
	n := c.namespace(s.Namespace)
	news, stop := n.feed.Follow(feed.Everyone)
	defer stop()
	found := c.begin(s.Owner)
	defer c.forget(s.Owner, found)
	selector := labels.SelectorFromSet(s.Selector)
	state := settler{reported: s.Known, next: s.Known}
	again := time.NewTimer(0)
	defer again.Stop()
	failed := "" // the last error that was told
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-news:
		case <-again.C:
		}
		scene, err := n.scene(selector)
		if err != nil || scene == nil {
			if err != nil && (failed == "" || !diagnose.Same(failed, err.Error())) {
				failed = err.Error()
				c.note(found, state.reported, err)
				changed()
			}
			continue
		}
		told, wait := state.settle(time.Now(), diagnose.Diagnose(*scene))
		if wait > 0 {
			again.Reset(wait)
		}
		c.note(found, state.reported, nil)
		if told || failed != "" {
			failed = ""
			changed()
		}
	}
}
