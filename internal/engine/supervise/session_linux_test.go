package supervise

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/test/waittest"
)

// The root restarts when its worker does, though nothing connects the two here and
// no request finds out.
func TestRootRestartsWithItsWorker(t *testing.T) {
	worker := supervised(t, Config{Engine: process(), Command: self("worker", "worker", filepath.Join(t.TempDir(), "port"))})
	root := supervised(t, Config{Engine: process(), Command: self("api", "api"), WaitFor: []string{strings.TrimPrefix(worker.url, "http://")}})
	root.state("serving", http.StatusOK)
	worker.restart()
	waittest.Until(t, "the root restarts", func() bool {
		_, text := get(root.url + "/metrics")
		return strings.Contains(text, "koldun_supervised_restarts_total 1")
	})
	root.state("serving", http.StatusOK)
	for _, w := range []*world{root, worker} {
		w.stop()
		w.ended()
	}
}

// A session has a name until it is over, and who asks for another waits for it.
func TestSession(t *testing.T) {
	w := supervised(t, Config{Engine: process(), Command: self("api", "api")})
	w.state("serving", http.StatusOK)
	code, first := get(w.url + "/session")
	if code != http.StatusOK || first == "" {
		t.Fatalf("session %q, status %d", first, code)
	}
	first = strings.TrimSpace(first)
	next := make(chan string, 1)
	go func() {
		_, text := get(w.url + "/session?is=" + first)
		next <- strings.TrimSpace(text)
	}()
	w.restart()
	if second := waittest.Receive(t, "the next session", next); second == first || !strings.HasPrefix(second, strings.Split(first, ".")[0]+".") {
		t.Errorf("the session after %q is %q", first, second)
	}
	w.state("serving", http.StatusOK)
	w.stop()
	w.ended()
}

func TestFollow(t *testing.T) {
	answers := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { answer(w, status, text) }
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, c := range map[string]struct {
		session string
		server  http.HandlerFunc // nil: there is none
		want    string
	}{
		"Ended":    {"a.1", answers(http.StatusOK, "a.2"), "its session has ended"},
		"Replaced": {"a.1", answers(http.StatusOK, "b.0"), "its session has ended"},
		"Gone":     {"a.1", nil, "its supervisor is out of reach"},
		"Older":    {"a.1", answers(http.StatusNotFound, "404 page not found"), ""},
		"Unnamed":  {"", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			url := gone.URL
			if c.server != nil {
				s := httptest.NewServer(c.server)
				defer s.Close()
				url = s.URL
			}
			got := follow(waittest.Context(t), waittest.Client(), strings.TrimPrefix(url, "http://"), c.session, time.Millisecond)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A root whose session is over tells the reason at once: it would wait and connect
// again by itself.
func TestRootLosesAPeer(t *testing.T) {
	s := &supervisor{out: newOutput(process(), engine.RoleRoot, io.Discard)}
	s.Engine = process()
	broken, stop := s.followRing(t.Context(), []string{""})
	defer stop()
	_, _ = s.out.stream(0).Write([]byte("🔄 Retrying in 3 seconds...\n"))
	if why := waittest.Receive(t, "the reason", broken); why != "a connection to a worker has ended" {
		t.Errorf("the reason is %q", why)
	}
}
