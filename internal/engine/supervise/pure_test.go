package supervise

import (
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/model/progress"
)

func TestState(t *testing.T) {
	feed := func(r engine.Role, lines ...string) string {
		s := State{Phase: Starting}
		for _, l := range lines {
			_, e, _ := process().Classify(r, l)
			s = s.apply(r, e)
		}
		return s.String()
	}
	for name, c := range map[string]struct{ got, want string }{
		"WorkerListens":   {feed(engine.RoleWorker, "Listening on 0.0.0.0:9990..."), "listening"},
		"WorkerConnected": {feed(engine.RoleWorker, "Listening on 0.0.0.0:9990...", "⭕ The root node has connected"), "loading 0"},
		"WorkerLoads":     {feed(engine.RoleWorker, "⭕ The root node has connected", "💿 Loaded block_matmul_q      0,       24 kB", "💿 Loaded block_matmul_k      0,       24 kB"), "loading 2"},
		"WorkerServes":    {feed(engine.RoleWorker, "⭕ The root node has connected", "💿 Weights loaded"), "serving"},
		"WorkerFreed":     {feed(engine.RoleWorker, "💿 Weights loaded", "🛑 Stop signal", "⭕ Network is closed", "Listening on 0.0.0.0:9990..."), "listening"},
		"RootLoads":       {feed(engine.RoleRoot, "💿 Loading weights...", "💿 Loaded 3/32"), "loading 3 of 32"},
		"RootLoaded":      {feed(engine.RoleRoot, "💿 Loaded 32/32", "💿 Weights loaded"), "loading 32 of 32"},
		"RootServes":      {feed(engine.RoleRoot, "💿 Weights loaded", "Listening on 127.0.0.1:9990..."), "serving"},
		"RootLostWorker":  {feed(engine.RoleRoot, "Listening on 127.0.0.1:9990...", "🔄 Retrying in 3 seconds..."), "starting"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got %q, want %q", c.got, c.want)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	for name, c := range map[string]struct {
		state State
		want  progress.Summary
		ok    bool
	}{
		"Begins":   {State{Phase: Loading}, progress.Summary{}, false}, // the engine counts after 10 s
		"None":     {State{Phase: Loading, Total: 4}, progress.Summary{Stage: progress.Load}, true},
		"Quarter":  {State{Phase: Loading, Loaded: 1, Total: 4}, progress.Summary{Stage: progress.Load, Percent: 25, ETASeconds: 60}, true},
		"All":      {State{Phase: Loading, Loaded: 4, Total: 4}, progress.Summary{Stage: progress.Load, Percent: 100}, true},
		"TooMany":  {State{Phase: Loading, Loaded: 5, Total: 4}, progress.Summary{Stage: progress.Load, Percent: 100}, true},
		"Worker":   {State{Phase: Loading, Loaded: 5}, progress.Summary{}, false},
		"Serves":   {State{Phase: Serving, Loaded: 4, Total: 4}, progress.Summary{}, false},
		"Restarts": {State{Phase: Restarting}, progress.Summary{}, false},
	} {
		if got, ok := c.state.progress(20 * time.Second); got != c.want || ok != c.ok {
			t.Errorf("%s: %+v, %t, want %+v, %t", name, got, ok, c.want, c.ok)
		}
	}
}

func TestObserve(t *testing.T) {
	open, shut := view{known: true, listening: true}, view{known: true}
	lateOpen, lateShut := view{known: true, listening: true, late: true}, view{known: true, late: true}
	for name, c := range map[string]struct {
		role   engine.Role
		before Phase
		v      view
		want   Phase
	}{
		"Unknown":         {engine.RoleWorker, Listening, view{}, Listening},
		"WorkerListens":   {engine.RoleWorker, Starting, open, Listening},
		"WorkerTaken":     {engine.RoleWorker, Listening, shut, Loading},
		"WorkerHandshake": {engine.RoleWorker, Loading, open, Loading},
		"WorkerLate":      {engine.RoleWorker, Serving, lateOpen, Listening},
		"WorkerLateTaken": {engine.RoleWorker, Listening, lateShut, Serving},
		"RootListens":     {engine.RoleRoot, Loading, open, Serving},
		"RootStopped":     {engine.RoleRoot, Serving, shut, Starting},
		"RootLoads":       {engine.RoleRoot, Loading, shut, Loading},
		"Waiting":         {engine.RoleRoot, Waiting, open, Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (State{Phase: c.before}).observe(c.role, c.v).Phase; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestReadyAndBusy(t *testing.T) {
	if (State{Phase: Loading}).Ready(engine.RoleRoot) || !(State{Phase: Listening}).Ready(engine.RoleWorker) || (State{Phase: Starting}).Ready(engine.RoleWorker) {
		t.Error("wrong about who is ready")
	}
	busy := State{Phase: Serving}
	if !busy.busy(engine.RoleWorker, view{}, false) || (State{Phase: Listening}).busy(engine.RoleWorker, view{}, false) {
		t.Error("wrong about busy workers")
	}
	if busy.busy(engine.RoleRoot, view{known: true}, true) || !busy.busy(engine.RoleRoot, view{known: true, connected: 1}, false) || !busy.busy(engine.RoleRoot, view{}, true) {
		t.Error("wrong about busy roots")
	}
}

func TestBackoff(t *testing.T) {
	var b backoff
	var got []time.Duration
	for range 8 {
		got = append(got, b.next(0))
	}
	ms := time.Millisecond
	want := []time.Duration{0, 100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 2000 * ms, 2000 * ms}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for range tooMany {
		b.next(0)
	}
	if b.healthy() {
		t.Error("healthy though it keeps ending")
	}
	if d := b.next(atOnce); d != 0 || !b.healthy() {
		t.Errorf("after a long life: %v", d)
	}
}

func TestRoleOf(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		want    engine.Role
	}{
		"Worker": {[]string{"dllama", "worker"}, engine.RoleWorker},
		"Root":   {[]string{"dllama-api", "--model", "worker"}, engine.RoleRoot},
		"Bare":   {[]string{"dllama"}, engine.RoleRoot},
		"None":   {nil, engine.RoleRoot},
	} {
		t.Run(name, func(t *testing.T) {
			if got := process().Role(c.command); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestParsePhase(t *testing.T) {
	for text, want := range map[string]Phase{"listening\n": Listening, "loading 3 of 4\n": Loading, "": "", "<html>": ""} {
		got, err := parsePhase(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestOldViewIsForgotten(t *testing.T) {
	o := newOutput(process(), engine.RoleWorker, io.Discard)
	_, _ = o.stream(0).Write([]byte("Listening on 0.0.0.0:9990...\n"))
	o.get(view{known: true}) // seen before it listened
	if got, _ := o.get(view{known: true, listening: true}); got.Phase != Listening {
		t.Errorf("got %q", got)
	}
}
