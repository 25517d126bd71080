package bus_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"
)

func TestKeys(t *testing.T) {
	b := natstest.Start(t).Connect(t)
	ctx := testContext(t)
	const bucket, key = names.LeasesBucket, "s"

	if _, _, err := bus.Get[string](ctx, b, bucket, key); !fault.Is(err, fault.NotFound) {
		t.Errorf("no key: %v, want NotFound", err)
	}
	if _, _, err := bus.Get[string](ctx, b, "nothing", key); !fault.Is(err, fault.NotFound) {
		t.Errorf("no bucket: %v, want NotFound", err)
	}
	rev, err := b.Create(ctx, bucket, key, "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Create(ctx, bucket, key, "b", 0); !fault.Is(err, fault.Conflict) {
		t.Errorf("created twice: %v, want Conflict", err)
	}
	next, err := b.Update(ctx, bucket, key, "b", rev, time.Minute)
	if err != nil || next <= rev {
		t.Fatalf("Update = %d, %v; want more than %d", next, err, rev)
	}
	if _, err := b.Update(ctx, bucket, key, "c", rev, 0); !fault.Is(err, fault.Conflict) {
		t.Errorf("updated from an old revision: %v, want Conflict", err)
	}
	if err := b.Delete(ctx, bucket, key, rev); !fault.Is(err, fault.Conflict) {
		t.Errorf("deleted an old revision: %v, want Conflict", err)
	}
	if got, rev, err := bus.Get[string](ctx, b, bucket, key); err != nil || got != "b" || rev != next {
		t.Errorf("Get = %q, %d, %v; want b, %d", got, rev, err, next)
	}
	if _, _, err := bus.Get[int](ctx, b, bucket, key); !fault.Is(err, fault.Corrupt) {
		t.Errorf("another type: %v, want Corrupt", err)
	}
	if err := b.Delete(ctx, bucket, key, next); err != nil {
		t.Error(err)
	}
	again, err := b.Create(ctx, bucket, key, "d", time.Minute)
	if err != nil || again <= next {
		t.Errorf("created after the deletion: revision %d, %v; want more than %d", again, err, next)
	}
	if _, err := b.Put(ctx, bucket, "a b", 1); !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Transient) {
		t.Errorf("an invalid key: %v", err)
	}
}

// A recorder records the events of a watch.
type recorder struct {
	events chan string
}

func watch(ctx context.Context, b *bus.Bus, bucket string) recorder {
	r := recorder{events: make(chan string, 100)}
	go bus.Watch(ctx, b, bucket, ">", func(e bus.Event[int]) {
		switch e.Kind {
		case bus.Changed:
			r.events <- fmt.Sprintf("%s=%d", e.Key, e.Value)
		case bus.Gone:
			r.events <- e.Key + " gone"
		case bus.Synced:
			r.events <- "synced"
		}
	})
	return r
}

func (r recorder) want(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for range want {
		got = append(got, waittest.Receive(t, fmt.Sprintf("%q after %q", want, got), r.events))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

// wantLast waits for an event, whatever comes before it.
func (r recorder) wantLast(t *testing.T, want string) {
	t.Helper()
	limit := time.After(waittest.Patience)
	for {
		select {
		case e := <-r.events:
			if e == want {
				return
			}
		case <-limit:
			t.Fatalf("timed out waiting for %q", want)
		}
	}
}

func TestWatch(t *testing.T) {
	srv := natstest.Start(t)
	b := srv.Connect(t)
	ctx := testContext(t)
	const bucket = names.RunnersBucket
	put := func(key string, v any) {
		t.Helper()
		if _, err := b.Put(ctx, bucket, key, v); err != nil {
			t.Fatal(err)
		}
	}
	put("a", 1)
	put("foreign", "no number")
	r := watch(ctx, b, bucket)
	r.want(t, "a=1", "synced")
	// One change per key: a watch may skip a value that a later one replaces.
	put("a", 2)
	put("b", 3)
	r.want(t, "a=2", "b=3")
	if err := b.Delete(ctx, bucket, "a", 0); err != nil {
		t.Fatal(err)
	}
	r.want(t, "a gone")
	put("short", 4)
	r.want(t, "short=4")
	if _, err := b.PutTTL(ctx, bucket, "short", 4, time.Second); err != nil {
		t.Fatal(err)
	}
	r.wantLast(t, "short gone") // expires

	// One key is deleted and one is created while the watch is disconnected.
	put("c", 5)
	r.want(t, "c=5")
	srv.Stop()
	srv.Restart()
	other := srv.Connect(t)
	if err := other.Delete(ctx, bucket, "c", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Put(ctx, bucket, "d", 6); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for len(seen) < 3 {
		seen[waittest.Receive(t, fmt.Sprintf("more after a restart than %v", seen), r.events)] = true
	}
	if diff := cmp.Diff(map[string]bool{"synced": true, "c gone": true, "d=6": true}, seen); diff != "" {
		t.Error(diff)
	}
}

func TestWatchListsOnceWhileConnected(t *testing.T) {
	b := natstest.Start(t).Connect(t)
	r := watch(t.Context(), b, names.DemandBucket)
	quiet := time.After(7 * time.Second) // longer than any timeout of the watch's setup
	for synced := 0; ; {
		select {
		case e := <-r.events:
			if e == "synced" {
				synced++
			}
			if synced > 1 {
				t.Fatal("the watch lists everything again without a reconnect")
			}
		case <-quiet:
			if synced != 1 {
				t.Errorf("listed %d times, want once", synced)
			}
			return
		}
	}
}

// A value that cannot be decoded invalidates the previous one: a token that such
// a record revokes must not stay valid.
func TestWatchFailsClosed(t *testing.T) {
	b := natstest.Start(t).Connect(t)
	ctx := testContext(t)
	w := watch(ctx, b, names.TokensBucket)
	w.want(t, "synced")
	put := func(value string) {
		t.Helper()
		if _, err := b.PutBytes(ctx, names.TokensBucket, "k", []byte(value), 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{"{", "", "null", " null\n", `"1"`, "[1]", "1 2"} {
		put("1")
		w.want(t, "k=1")
		put(bad)
		w.want(t, "k gone")
	}
	put("{") // again, but without a valid value before it: no event
	put("2")
	w.want(t, "k=2")
}
