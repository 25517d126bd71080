package sidecar

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// A scripted engine does what a test says.
type scripted struct {
	do    func() error
	alive error
}

func (s scripted) Do(context.Context, engineapi.Request, engineapi.Options, func(engineapi.Delta) error) (engineapi.Result, error) {
	return engineapi.Result{}, s.do()
}

func (s scripted) Alive(context.Context) error { return s.alive }

// A stated supervisor says in which state its engine is.
type stated string

func (stated) Restart(context.Context) error { return nil }

func (s stated) State(context.Context) (string, error) { return string(s), nil }

func (stated) Session(ctx context.Context, _ string) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

// An engine that has no room for a question is alive.
func TestCheckAlive(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"Answers": {nil, true},
		"Busy":    {fmt.Errorf("cannot ask it: %w", engineapi.ErrBusy), true},
		"Gone":    {fmt.Errorf("cannot ask it: %w", engineapi.ErrLoading), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := &runner{cfg: Config{Engine: scripted{alive: c.err}, Logger: slog.New(slog.DiscardHandler)}, metrics: newMetrics(), engine: engineState{ready: true}}
			engineWatcher{r}.checkAlive(t.Context())
			if r.engine.ready != c.want {
				t.Errorf("ready: %t, want %t", r.engine.ready, c.want)
			}
		})
	}
}

// An answer that breaks its schema fails the attempt, with a reason for the client,
// and the engine goes on.
func TestAnswerBreaksItsSchema(t *testing.T) {
	cfg := Config{Logger: slog.New(slog.DiscardHandler)}
	f, healthy := failure(fault.As(fault.Corrupt, fmt.Errorf("%w: at /n", engineapi.ErrSchema)), &queue.Request{}, &cfg)
	if f.Code != queue.CodeEngineFailed || f.Message != engineapi.ErrSchema.Error() || !healthy {
		t.Errorf("the failure is %+v, healthy: %t", f, healthy)
	}
}

// The progress of an engine is that of loading: it is no reason once the engine
// serves, or is not ready because of something else.
func TestProgress(t *testing.T) {
	broken := errors.New("it does not compute")
	for name, c := range map[string]struct {
		state  string
		reason error
		want   string
	}{
		"Loads":  {"loading 3 of 32", engineapi.ErrLoading, "loading 3 of 32"},
		"Serves": {serves, engineapi.ErrLoading, ""},
		"Broken": {"loading 3 of 32", broken, ""},
		"Proven": {"loading 3 of 32", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := &runner{cfg: Config{Supervisor: stated(c.state)}, metrics: newMetrics(), engine: engineState{progress: "loading 1 of 32"}}
			w := engineWatcher{r}
			if got := w.look(t.Context()); got != (c.state == serves) {
				t.Errorf("it serves: %t", got)
			}
			w.tried(c.reason, time.Now())
			if r.engine.progress != c.want {
				t.Errorf("progress %q, want %q", r.engine.progress, c.want)
			}
		})
	}
}

// An engine that ends while it proves itself is not said to generate.
func TestEndsWhileItProvesItself(t *testing.T) {
	for _, ends := range []bool{true, false} {
		var log bytes.Buffer
		r := &runner{metrics: newMetrics(), suspect: make(chan struct{}, 1)}
		r.cfg = Config{Logger: slog.New(slog.NewTextHandler(&log, nil)), Engine: scripted{do: func() error {
			if ends {
				engineFollower{r}.ended()
			}
			return nil
		}}}
		engineWatcher{r}.prove(t.Context())
		if said := strings.Contains(log.String(), "the engine generates"); said == ends || r.engine.ready == ends {
			t.Errorf("ends %t: ready %t; %s", ends, r.engine.ready, log.String())
		}
	}
}
