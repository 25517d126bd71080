package up_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
)

// An exposed Dllama with minDllamas: 0 runs nothing until the first request, which is
// answered, and runs nothing again when it is idle.
func TestUpExposeScalesToZero(t *testing.T) {
	programtest.WithoutRace(t)
	t.Parallel()
	claim := edited(t, `allowAnonymous: true`, "allowAnonymous: true\n    scaling: {minDllamas: 0, maxDllamas: 1, scaleDownIdleSeconds: 1}")
	w := &demandHarness{t: t, dir: t.TempDir()}
	w.p = programtest.Start(t, "up", "-f", claim, "--hub-dir", models, "--data", w.dir, "--port", "koldun-tiny-gateway=0", "--ask", "")
	w.url = w.p.Expect(t, `listens on (http://\S+)`)[1]
	w.p.Expect(t, `Press Ctrl-C to stop`)
	for _, state := range []string{"cold", "idle"} {
		if n := w.runners(); n != 0 {
			t.Errorf("%d runners without a request", n)
		}
		began := time.Now()
		w.wants("", http.StatusOK)
		t.Logf("the first answer of a %s model took %v", state, time.Since(began))
		w.eventually("no runner without requests", func() bool { return w.runners() == 0 })
	}
	w.p.Interrupt(t)
	if code := w.p.Exit(t); code != 0 {
		t.Errorf("exit status %d", code)
	}
}
