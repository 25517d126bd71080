package sidecar_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/internal/serving/sidecar"
)

// member starts a sidecar of a group that the registry may list.
func (w *world) member(runner, group string, initial *queue.Traffic) {
	e := enginetest.Start(w.t, enginetest.Echo)
	client, err := engineapi.New(e.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	w.start(runner, func(ctx context.Context, b *bus.Bus) error {
		return sidecar.Run(ctx, sidecar.Config{
			Bus: b, Engine: client, Session: session, Runner: runner, Model: "ns/model", Member: group, Traffic: initial,
			TTL: 3 * time.Second, Grace: 3 * time.Second, Logger: w.logger(runner),
		})
	})
}

// putMembers replaces the members of the model.
func (w *world) putMembers(members map[string]queue.Member) {
	w.t.Helper()
	m := registry.Model{Namespace: "ns", Name: "model", Members: queue.Members{Members: members}, Alias: true}
	if _, err := registry.Models(w.bus).Put(w.ctx(), m.Key(), m); err != nil {
		w.t.Fatal(err)
	}
}

// traffic waits until an idle runner announces a group.
func (w *world) traffic(runner string, want *queue.Traffic) {
	w.t.Helper()
	w.runner(runner, func(r queue.Runner) bool { return idle(r) && cmp.Equal(want, r.Traffic) })
}

// A runner announces what the registry says of its group, and its own flags until it
// says something.
func TestTrafficFollowsTheRegistry(t *testing.T) {
	w := newWorld(t)
	flags := &queue.Traffic{Group: "canary", Weight: 7}
	w.dispatcher("d1")
	w.member("r1", "canary", flags)
	w.member("r2", "stable", nil)
	w.traffic("r1", flags)
	w.traffic("r2", nil)
	w.putMembers(map[string]queue.Member{"canary": {Weight: 0}, "other": {Weight: 3}})
	w.traffic("r1", &queue.Traffic{Group: "canary"})
	w.traffic("r2", nil)
	w.putMembers(map[string]queue.Member{"canary": {Weight: 20}, "stable": {Weight: 80, Fallback: true}})
	w.traffic("r1", &queue.Traffic{Group: "canary", Weight: 20})
	w.traffic("r2", &queue.Traffic{Group: "stable", Weight: 80, Fallback: true})
	if err := registry.Models(w.bus).Delete(w.ctx(), "model/ns/model", 0); err != nil {
		t.Fatal(err)
	}
	w.putMembers(map[string]queue.Member{"canary": {Weight: 5}})
	w.traffic("r1", &queue.Traffic{Group: "canary", Weight: 5})
}

// A change of weights moves requests from one running engine to another, and each
// answer and its record name the member.
func TestWeightsMoveRequests(t *testing.T) {
	w := newWorld(t)
	// The first record of a runner names its group only if the registry lists that by
	// then. Requests of an earlier record count for no group.
	w.putMembers(map[string]queue.Member{"old": {}, "new": {}})
	w.dispatcher("d1")
	w.member("r1", "old", nil)
	w.member("r2", "new", nil)
	n := 0
	ask := func() string {
		t.Helper()
		n++
		c := w.send(chat(fmt.Sprintf("req_%d", n), fmt.Sprintf("text %d", n)))
		member := c.until(queue.FrameStarted).Member
		c.want(fmt.Sprintf("text %d", n))
		if o := c.outcome(); o.Group != member {
			t.Errorf("request %d: answered by %q, recorded for %q", n, member, o.Group)
		}
		return member
	}
	for _, c := range []struct {
		old, next queue.Member
		want      string
	}{
		{queue.Member{Weight: 100}, queue.Member{Weight: 0}, "old"},
		{queue.Member{Weight: 0}, queue.Member{Weight: 100}, "new"},
		{queue.Member{Weight: 1, Fallback: true}, queue.Member{Weight: 1}, "new"},
		{queue.Member{Weight: 1, Fallback: true}, queue.Member{Weight: 0}, "old"},
	} {
		w.putMembers(map[string]queue.Member{"old": c.old, "new": c.next})
		// The dispatcher learns of the groups one after the other. Three requests in
		// a row show that it knows both.
		row := 0
		w.eventually(fmt.Sprintf("requests for %q with %+v and %+v", c.want, c.old, c.next), func() bool {
			row++
			if ask() != c.want {
				row = 0
			}
			return row == 3
		})
		for range 3 {
			if got := ask(); got != c.want {
				t.Errorf("old %+v, new %+v: answered by %q, want %q", c.old, c.next, got, c.want)
			}
		}
	}
	w.empty()
}

func TestTrafficIsChecked(t *testing.T) {
	for name, c := range map[string]queue.Traffic{
		"NoGroup": {Weight: 1}, "Negative": {Group: "g", Weight: -1}, "TooLarge": {Group: "g", Weight: 1001},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := sidecar.Config{Session: session, Runner: "r", Traffic: &c}
			if err := cfg.Check(); !fault.Is(err, fault.Invalid) {
				t.Errorf("Check() = %v, want Invalid", err)
			}
		})
	}
}
