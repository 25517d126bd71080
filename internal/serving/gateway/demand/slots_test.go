package demand

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/waittest"
)

// startSlots runs the slots of one gateway until the test ends.
func startSlots(t *testing.T, server *natstest.Server, most int, ttl time.Duration) *Slots {
	t.Helper()
	s := NewSlots(server.Connect(t), most, ttl, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		waittest.Returns(t, "the watch of slots ends", running.Wait)
	})
	waittest.Receive(t, "the slots are known", s.Synced())
	return s
}

// TestSlotsAreNeverTooMany takes few slots for many sessions through several
// gateways concurrently.
func TestSlotsAreNeverTooMany(t *testing.T) {
	const gateways, sessions, most = 3, 20, 4
	server := natstest.Start(t)
	var all []*Slots
	for range gateways {
		all = append(all, startSlots(t, server, most, 10*time.Minute))
	}
	var mu sync.Mutex
	holders := map[string]bool{}
	var tasks sync.WaitGroup
	for i := range sessions {
		for _, s := range all {
			tasks.Go(func() {
				session := names.Session("default", "tiny", fmt.Sprint(i))
				if s.Hold(t.Context(), "default", session) {
					mu.Lock()
					defer mu.Unlock()
					holders[session] = true
				}
			})
		}
	}
	waittest.Returns(t, "all have asked for a slot", tasks.Wait)
	if len(holders) == 0 || len(holders) > most {
		t.Errorf("got %d sessions with a slot, want at most %d", len(holders), most)
	}
	waittest.Until(t, "all gateways agree", func() bool {
		for session := range holders {
			for _, s := range all {
				if _, ok := s.find("default", session); !ok {
					return false
				}
			}
		}
		return true
	})
	for i := range sessions {
		session := names.Session("default", "tiny", fmt.Sprint(i))
		for _, s := range all {
			if s.Hold(t.Context(), "default", session) != holders[session] {
				t.Errorf("session %d: the gateways do not agree", i)
			}
		}
	}
	if !all[0].Hold(t.Context(), "elsewhere", "elsewhere_tiny_0") {
		t.Error("another namespace does not have its own slots")
	}
}

// TestSlotsLastAsLongAsTheyAreKept checks the expiry of slots on a real server.
func TestSlotsLastAsLongAsTheyAreKept(t *testing.T) {
	s := startSlots(t, natstest.Start(t), 1, time.Second)
	until := func() time.Time { // at least
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.taken["first"].until
	}
	if !s.Hold(t.Context(), "default", "first") {
		t.Fatal("no slot")
	}
	for begun := time.Now(); time.Since(begun) < 2500*time.Millisecond; <-time.After(100 * time.Millisecond) {
		s.keep(t.Context(), "default", "first")
		s.keep(t.Context(), "default", "second") // holds no slot
		kept := until()
		if !s.Hold(t.Context(), "default", "second") {
			continue
		}
		if time.Now().Before(kept) {
			t.Fatal("two sessions hold the only slot")
		}
		// The machine was suspended for longer than a slot lasts: try again.
		waittest.Until(t, "the first has the slot again", func() bool { return s.Hold(t.Context(), "default", "first") })
		begun = time.Now()
	}
	waittest.Until(t, "the slot is free", func() bool { return s.Hold(t.Context(), "default", "second") })
	if !until().IsZero() {
		t.Error("the first is still remembered")
	}
}
