package sidecar_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/internal/serving/dispatch"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/sidecar"
)

// TestNamesMakeNoSeries tests that names chosen by clients, other runners or the engine
// appear in no label of metrics of the dispatcher and the sidecar.
func TestNamesMakeNoSeries(t *testing.T) {
	w := newWorld(t)
	d, s := porttest.Address(t), porttest.Address(t)
	w.start("d1", func(ctx context.Context, b *bus.Bus) error {
		return dispatch.Run(ctx, dispatch.Config{
			Bus: b, Identity: "d1", Listen: d, AffinityWait: 200 * time.Millisecond, Logger: w.logger("d1"),
			LeaseTTL: time.Minute, // a leader that loses its lease may not count an outcome
		})
	})
	e := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		if code, bad := strings.CutPrefix(r.Last(), "refuse "); bad {
			return enginetest.Reply{Status: http.StatusBadRequest, Code: code}
		}
		return enginetest.Echo(r)
	})
	client, err := engineapi.New(e.URL)
	if err != nil {
		t.Fatal(err)
	}
	w.start("r1", func(ctx context.Context, b *bus.Bus) error {
		return sidecar.Run(ctx, sidecar.Config{
			Bus: b, Engine: client, Session: session, Runner: "r1", Model: "ns/model", Listen: s, Logger: w.logger("r1"),
		})
	})

	hostile := func(round int) {
		odd := fmt.Sprintf("odd%d", round)
		request := func(id, text string) queue.Request {
			r := chat("req_"+odd+id, text)
			r.Tenant, r.Model, r.Affinity, r.Priority, r.Traceparent = odd, odd+"\"}\n", odd, queue.Priority(odd), odd
			return r
		}
		w.send(request("a", odd)).want(odd)
		w.send(request("b", "refuse "+odd)).wantError(queue.Failed, queue.CodeInvalidRequest)
		late := request("c", odd)
		late.Session, late.Deadline = odd, time.Now().Add(-time.Second)
		w.send(late).wantError(queue.Expired, queue.CodeExpired)
		stranger := queue.Runner{Name: odd, Session: odd, Model: odd, State: queue.RunnerState(odd), Affinity: odd, Instance: odd}
		if _, err := w.bus.PutTTL(w.ctx(), names.RunnersBucket, names.RunnerKey(session, odd), stranger, time.Hour); err != nil {
			t.Fatal(err)
		}
		// The next round must find the counts of this one.
		for addr, counts := range map[string]map[string]int{
			d: {
				`koldun_requests_total{state="completed"}`: round,
				`koldun_requests_total{state="failed"}`:    round,
				`koldun_requests_total{state="expired"}`:   round,
				`koldun_dispatcher_runners{state="idle"}`:  1,
				`koldun_dispatcher_runners{state="busy"}`:  0,
			},
			s: {
				`koldun_runner_attempts_total{result="completed"}`:       round,
				`koldun_runner_attempts_total{result="invalid_request"}`: round,
				`koldun_runner_state{state="idle"}`:                      1,
			},
		} {
			for name, n := range counts {
				line := fmt.Sprintf("%s %d\n", name, n)
				w.eventually(line, func() bool { _, text := get(t, "http://"+addr+"/metrics"); return strings.Contains(text, line) })
			}
		}
	}
	hostile(1)
	before := map[string][]string{d: series(t, d), s: series(t, s)}
	for round := 2; round <= 4; round++ {
		hostile(round)
	}
	for addr, old := range before {
		if diff := cmp.Diff(old, series(t, addr)); diff != "" {
			t.Errorf("a second round adds series:\n%s", diff)
		}
		if all := strings.Join(old, "\n"); strings.Contains(all, "odd") {
			t.Errorf("a foreign name is in\n%s", all)
		}
	}
}

// series are the names of Koldun's series with their labels, in order.
func series(t *testing.T, addr string) []string {
	t.Helper()
	found := map[string]bool{}
	_, text := get(t, "http://"+addr+"/metrics")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "koldun_") || strings.HasPrefix(line, "gen_ai_") {
			found[line[:strings.LastIndex(line, " ")]] = true
		}
	}
	if len(found) == 0 {
		t.Fatalf("no series at %s", addr)
	}
	return slices.Sorted(maps.Keys(found))
}
