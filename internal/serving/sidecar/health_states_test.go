package sidecar

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/network/httpserver"
)

// TestHealthStates holds that only the engine's own state counts for its container.
func TestHealthStates(t *testing.T) {
	hung := time.Now()
	heard := func(at time.Time) *attempt {
		a := &attempt{}
		a.heard.Store(at.UnixNano())
		return a
	}
	hanging := func(running ...*attempt) *runner {
		return &runner{engine: engineState{hungAt: hung}, slots: slots{running: running}}
	}
	cases := map[string]struct {
		runner              *runner
		serves, ready, live string // part of the error; "" for none
	}{
		"Starts":       {&runner{}, "no token", "no token", ""},
		"Loads":        {&runner{engine: engineState{progress: "loading 1 of 2"}}, "it is loading", "it is loading", ""},
		"Fails":        {&runner{engine: engineState{reason: errors.New("no model")}}, "yet: no model", "yet: no model", ""},
		"Generates":    {&runner{engine: engineState{ready: true}}, "", "", ""},
		"Drains":       {&runner{engine: engineState{ready: true}, draining: true}, "draining", "", ""},
		"FailedOnce":   {&runner{slots: slots{running: []*attempt{heard(hung)}}}, "", "no token", ""},
		"Hangs":        {hanging(), "no token", "no token", "silent for too long"},
		"HangsForAll":  {hanging(heard(hung.Add(-time.Second))), "", "no token", "silent for too long"},
		"HangsForNone": {hanging(heard(hung.Add(time.Second))), "", "no token", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := health{r: c.runner}
			for _, check := range []struct {
				name  string
				probe func(context.Context) error
				want  string
			}{{"serves", h.checkServing, c.serves}, {"generates", h.checkGenerating, c.ready}, {"moves", h.checkHang, c.live}} {
				err := check.probe(t.Context())
				if (err == nil) != (check.want == "") || err != nil && !strings.Contains(err.Error(), check.want) {
					t.Errorf("%s: %v, want %q", check.name, err, check.want)
				}
			}
		})
	}
}

// TestAwaitDrained holds how long a container that is to stop waits.
func TestAwaitDrained(t *testing.T) {
	const never = time.Hour
	for name, c := range map[string]struct{ begins, ends, want time.Duration }{
		"NoDrain":  {never, never, drainBegins},
		"Drain":    {time.Second, 5 * time.Second, 5 * time.Second},
		"LongOne":  {time.Second, never, 11 * time.Second},
		"Finished": {0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDrain(&runner{cfg: Config{Grace: 10 * time.Second}})
				time.AfterFunc(c.begins, func() { close(d.begun) })
				time.AfterFunc(c.ends, func() { close(d.done) })
				began := time.Now()
				d.await(t.Context())
				if got := time.Since(began); got != c.want {
					t.Errorf("it waited for %v, want %v", got, c.want)
				}
			})
		})
	}
}

// aliveOnly is an engine that answers, or does not.
type aliveOnly struct{ err error }

func (e aliveOnly) Alive(context.Context) error { return e.err }

func (aliveOnly) Do(context.Context, engineapi.Request, engineapi.Options, func(engineapi.Delta) error) (engineapi.Result, error) {
	return engineapi.Result{}, errors.New("it is not asked")
}

// TestHealthWithoutBus holds that an engine is not to blame for NATS.
func TestHealthWithoutBus(t *testing.T) {
	nats := httpserver.Check{Name: "nats", Probe: func(context.Context) error { return errors.New("away") }}
	for name, c := range map[string]struct {
		err    error
		path   string
		status int
	}{
		"Alive":       {nil, "/healthz", 200},
		"Ready":       {nil, "/readyz", 503},
		"EngineReady": {nil, "/engine/readyz", 200},
		"EngineLoads": {engineapi.ErrLoading, "/engine/readyz", 503},
		"EngineLive":  {engineapi.ErrLoading, "/engine/livez", 200},
		"Drained":     {nil, "/drained", 200},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			HealthWithoutBus(aliveOnly{c.err}, nats).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, nil))
			if w.Code != c.status {
				t.Errorf("GET %s: %d %q, want %d", c.path, w.Code, w.Body.String(), c.status)
			}
		})
	}
}
