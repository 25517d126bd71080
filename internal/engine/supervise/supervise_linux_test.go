package supervise

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/test/waittest"
)

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

type world struct {
	t    *testing.T
	url  string
	key  string // its file
	out  *buffer
	stop context.CancelFunc
	end  chan error
}

func supervised(t *testing.T, c Config) *world {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	w := &world{t: t, out: &buffer{}, stop: stop, end: make(chan error, 1)}
	addr := make(chan string, 1)
	c.HealthListen, c.Health, c.Output = "127.0.0.1:0", func(a string) { addr <- a }, w.out
	c.Logger, c.KeyFile = slog.New(slog.DiscardHandler), filepath.Join(t.TempDir(), "key")
	w.key = c.KeyFile
	go func() { w.end <- Run(ctx, c) }()
	select {
	case a := <-addr:
		w.url = "http://" + a
	case err := <-w.end:
		t.Fatal(err)
	case <-waittest.Context(t).Done():
		t.Fatal("its health cannot be asked for")
	}
	t.Cleanup(stop)
	return w
}

func self(args ...string) []string { return append([]string{os.Args[0]}, args...) }

func get(url string) (int, string) {
	res, err := waittest.Client().Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}

func (w *world) state(want string, status int) {
	w.t.Helper()
	waittest.Until(w.t, want, func() bool {
		code, text := get(w.url + "/readyz")
		return code == status && strings.TrimSpace(text) == want
	})
}

func (w *world) ended() {
	w.t.Helper()
	if err := waittest.Receive(w.t, "the supervisor ends", w.end); err != nil {
		w.t.Fatal(err)
	}
}

func connect(t *testing.T, portFile string) net.Conn {
	t.Helper()
	addr, err := os.ReadFile(portFile)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", string(addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestWorkerOutlivesItsSession(t *testing.T) {
	port := filepath.Join(t.TempDir(), "port")
	w := supervised(t, Config{Engine: process(), Command: self("worker", "worker", port)})
	w.state("listening", http.StatusOK)
	root := connect(t, port)
	w.state("serving", http.StatusOK)
	w.stop()
	// It still serves after the signal, and ends when the root has left.
	w.state("serving", http.StatusOK)
	_ = root.Close()
	w.ended()
}

func TestGraceIsBounded(t *testing.T) {
	port := filepath.Join(t.TempDir(), "port")
	w := supervised(t, Config{Engine: process(), Command: self("worker", "worker", port), Grace: 50 * time.Millisecond})
	w.state("listening", http.StatusOK)
	connect(t, port)
	w.state("serving", http.StatusOK)
	w.stop()
	w.ended()
}

func TestDeafIsKilled(t *testing.T) {
	w := supervised(t, Config{Engine: process(), Command: self("worker", "deaf"), Grace: time.Millisecond})
	waittest.Until(t, "it writes", func() bool { return strings.Contains(w.out.String(), "Listening") })
	w.stop()
	w.ended()
}

func TestRestarts(t *testing.T) {
	w := supervised(t, Config{Engine: process(), Command: self("worker", "exit")})
	waittest.Until(t, "three restarts", func() bool {
		_, text := get(w.url + "/metrics")
		_, count, _ := strings.Cut(text, "\nkoldun_supervised_restarts_total ")
		var n int
		_, _ = fmt.Sscan(count, &n)
		return n >= 3
	})
	if code, _ := get(w.url + "/healthz"); code != http.StatusOK {
		t.Errorf("healthz %d", code)
	}
	w.stop()
	w.ended()
}

func TestRootServesWithoutText(t *testing.T) {
	w := supervised(t, Config{Engine: process(), Command: self("api", "api")})
	w.state("serving", http.StatusOK)
	waittest.Until(t, "its text is withheld", func() bool { return strings.Contains(w.out.String(), "line of 12 bytes") })
	if out := w.out.String(); strings.Contains(out, "secret") || !strings.Contains(out, "💿 Weights loaded\n[text of") {
		t.Errorf("copied %q", out)
	}
	w.stop()
	w.ended()
}

func TestProgressOfLoading(t *testing.T) {
	w := supervised(t, Config{Engine: process(), Command: self("api", "loads")})
	w.state("loading 8 of 32", http.StatusServiceUnavailable)
	code, text := get(w.url + progress.Path)
	if code != http.StatusOK || !strings.HasPrefix(text, `{"stage":"load","percent":25`) {
		t.Errorf("progress: %d %s", code, text)
	}
	w.stop()
	w.ended()
}

func TestOutputHeldByOthers(t *testing.T) {
	w := supervised(t, Config{Engine: process(), Command: self("worker", "leaver")})
	waittest.Until(t, "it starts again", func() bool { return strings.Count(w.out.String(), "left ") >= 2 })
	w.stop()
	w.ended()
	for line := range strings.Lines(w.out.String()) {
		if pid, ok := strings.CutPrefix(strings.TrimSpace(line), "left "); ok {
			_ = exec.Command("kill", pid).Run()
		}
	}
}

func TestWaitsForWorkers(t *testing.T) {
	port := filepath.Join(t.TempDir(), "port")
	worker := supervised(t, Config{Engine: process(), Command: self("worker", "worker", port)})
	worker.state("listening", http.StatusOK)
	hold := connect(t, port)
	worker.state("serving", http.StatusOK)
	root := supervised(t, Config{Engine: process(), Command: self("api", "api"), WaitFor: []string{strings.TrimPrefix(worker.url, "http://")}})
	root.state("waiting", http.StatusServiceUnavailable)
	_ = hold.Close()
	root.state("serving", http.StatusOK)
	root.stop()
	root.ended()
	worker.stop()
	worker.ended()
}

func TestWaitEndsWithContext(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	w := supervised(t, Config{Engine: process(), Command: self("api", "api"), WaitFor: []string{strings.TrimPrefix(s.URL, "http://")}})
	w.state("waiting", http.StatusServiceUnavailable)
	w.stop()
	w.ended()
}

// restart asks for a restart as the sidecar does, until there is a process to end.
func (w *world) restart() {
	w.t.Helper()
	waittest.Until(w.t, "a restart to begin", func() bool {
		err := (engineapi.Supervisor{URL: w.url, KeyFile: w.key}).Restart(w.t.Context())
		if err != nil && !fault.Is(err, fault.Conflict) {
			w.t.Fatal(err)
		}
		return err == nil
	})
}

func TestRestartIsAskedFor(t *testing.T) {
	w := supervised(t, Config{Engine: process(), Command: self("api", "api")})
	w.state("serving", http.StatusOK)
	w.restart()
	waittest.Until(t, "a restart", func() bool {
		_, text := get(w.url + "/metrics")
		return strings.Contains(text, "koldun_supervised_restarts_total 1")
	})
	w.state("serving", http.StatusOK)
	w.stop()
	w.ended()
}

func TestRestartIsRefused(t *testing.T) {
	s := &supervisor{restart: make(chan string), key: "secret"}
	for name, c := range map[string]struct {
		from, key string
		want      int
	}{
		"Stranger":   {"10.0.0.7:1", "secret", http.StatusForbidden},
		"NoAddress":  {"", "secret", http.StatusForbidden},
		"NoKey":      {"127.0.0.1:1", "", http.StatusForbidden},
		"OtherKey":   {"127.0.0.1:1", "Secret", http.StatusForbidden},
		"NotRunning": {"[::1]:1", "secret", http.StatusConflict},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/restart", nil)
			r.RemoteAddr = c.from
			r.Header.Set(engine.RestartKeyHeader, c.key)
			w := httptest.NewRecorder()
			s.handleRestart(w, r)
			if w.Code != c.want {
				t.Errorf("status %d, want %d", w.Code, c.want)
			}
		})
	}
}

// A page of a site, whose browser runs on the machine of the supervisor, cannot restart
// the engine, and cannot look at it after DNS rebinding.
func TestPagesOfSitesAreRefused(t *testing.T) {
	w := supervised(t, Config{Engine: process(), Command: self("api", "api")})
	w.state("serving", http.StatusOK)
	for name, c := range map[string]struct {
		method, path, host, origin string
		want                       int
	}{
		"Restart":        {http.MethodPost, "/restart", "", "https://evil.example", http.StatusForbidden},
		"RestartRebound": {http.MethodPost, "/restart", "evil.example", "http://evil.example", http.StatusMisdirectedRequest},
		"RestartNoPage":  {http.MethodPost, "/restart", "", "", http.StatusForbidden},
		"ReadRebound":    {http.MethodGet, "/metrics", "evil.example", "", http.StatusMisdirectedRequest},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), c.method, w.url+c.path, strings.NewReader(""))
			if err != nil {
				t.Fatal(err)
			}
			r.Host = c.host
			r.Header.Set("Content-Type", "text/plain")
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			res, err := waittest.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != c.want {
				t.Errorf("status %d, want %d", res.StatusCode, c.want)
			}
		})
	}
	if _, text := get(w.url + "/metrics"); !strings.Contains(text, "koldun_supervised_restarts_total 0") {
		t.Error("the engine was restarted")
	}
	w.stop()
	w.ended()
}

// A worker that hangs does not notice that its root has left: it is ended, so
// that the next root finds one that listens.
func TestHangingWorkerIsEnded(t *testing.T) {
	port := filepath.Join(t.TempDir(), "port")
	w := supervised(t, Config{Engine: process(), Command: self("worker", "hangs", port)})
	w.state("listening", http.StatusOK)
	root := connect(t, port)
	w.state("serving", http.StatusOK)
	_ = root.Close()
	waittest.Until(t, "a restart", func() bool {
		_, text := get(w.url + "/metrics")
		return strings.Contains(text, "koldun_supervised_restarts_total 1")
	})
	w.state("listening", http.StatusOK)
	w.stop()
	w.ended()
}

func TestImpossible(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		kind   fault.Kind
	}{
		"Nothing": {Config{}, fault.Invalid},
		"Absent":  {Config{Engine: process(), Command: []string{"/no/such/dllama"}}, fault.NotFound},
		"InPath":  {Config{Engine: process(), Command: []string{"no-such-dllama"}}, fault.NotFound},
		"WaitFor": {Config{Engine: process(), Command: []string{os.Args[0]}, WaitFor: []string{"worker-0"}}, fault.Invalid},
		"Grace":   {Config{Engine: process(), Command: []string{os.Args[0]}, Grace: -time.Second}, fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Output = io.Discard
			err := Run(t.Context(), c.config)
			if !fault.Is(err, c.kind) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A program that is not there, or not for this processor, is an error that says
// what an image must hold: to restart it would change nothing.
func TestImageIsOfNoUse(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		kind    fault.Kind
		want    string
	}{
		"NoProgram":      {[]string{"no-such-dllama"}, fault.NotFound, `cannot supervise program "no-such-dllama": executable file not found in $PATH: name an image that holds`},
		"OtherProcessor": {[]string{"/bin/sh", "-c", "kill -ILL $$"}, fault.Unsupported, "an instruction that this processor lacks, because it was built for another one: name an image"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Run(waittest.Context(t), Config{Engine: process(), Command: c.command, Output: io.Discard, Logger: slog.New(slog.DiscardHandler)})
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestOrphansAreReaped(t *testing.T) {
	cmd := exec.CommandContext(waittest.Context(t), os.Args[0], "init", "orphans")
	cmd.Env = append(os.Environ(), "GORACE=")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() { // a root's unknown line is withheld, but it has come
		t.Fatal(lines.Err())
	}
	waittest.Until(t, "no zombie is left", func() bool {
		for _, p := range processes() {
			if p.zombie && p.parent == cmd.Process.Pid {
				return false
			}
		}
		return true
	})
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
