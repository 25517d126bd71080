package demand

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// A tableOfWrites notes when it is written.
type tableOfWrites struct {
	writes chan string
	fail   bool
}

func (t *tableOfWrites) PutTTL(_ context.Context, key string, _ registry.Demand, _ time.Duration) (uint64, error) {
	if t.fail {
		t.fail = false
		return 0, errors.New("no")
	}
	t.writes <- key
	return 1, nil
}

func (t *tableOfWrites) count() int {
	n := 0
	for {
		select {
		case <-t.writes:
			n++
		default:
			return n
		}
	}
}

func TestDemandWritesFewTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &tableOfWrites{writes: make(chan string, 1000)}
		d := NewAnnouncer(table, nil, time.Minute, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan bool)
		go func() { d.Run(ctx); close(done) }()
		wait := func(dur time.Duration) int {
			time.Sleep(dur)
			synctest.Wait()
			return table.count()
		}
		var release []func()
		for range 50 {
			release = append(release, d.Hold(registry.Demand{Session: names.Session("n", "m", ""), Namespace: "n", Model: "m"}))
		}
		if n := wait(time.Second); n != 1 {
			t.Errorf("%d writes at once for many requests", n)
		}
		if n := wait(10 * time.Minute); n < 20 || n > 30 {
			t.Errorf("%d writes in ten TTLs", n)
		}
		for _, f := range release {
			f()
		}
		if n := wait(30 * time.Second); n > 1 {
			t.Errorf("%d writes after the last request", n)
		}
		if n := wait(10 * time.Minute); n != 0 || len(d.sessions) != 0 {
			t.Errorf("%d writes without requests, %d sessions kept", n, len(d.sessions))
		}

		table.fail = true
		stop := d.Hold(registry.Demand{Session: names.Session("n", "m", ""), Namespace: "n", Model: "m"})
		if n := wait(2 * time.Second); n != 1 {
			t.Errorf("%d writes after a failed one", n)
		}
		stop()
		cancel()
		<-done
	})
}
