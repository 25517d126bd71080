// Package programtest runs the program koldun for tests. It is built once for the tests of a
// package, which have
//
//	func TestMain(m *testing.M) { programtest.Main(m, "") }
package programtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/test/sourcetest"
	"github.com/gorizond/koldun/test/waittest"
)

// built is the program that all tests of a package run.
var built struct {
	sync.Once
	root string // see Main
	dir  string // "" if nothing was built
	err  error
}

// Main runs the tests of a package, and removes the program after them. It does not return.
// root is the folder of the module: its sources are inputs of the tests. It is "" where the
// test binary holds all of them itself.
func Main(m *testing.M, root string) {
	built.root = root
	code := s3test.Run(m)
	_ = os.RemoveAll(built.dir)
	os.Exit(code)
}

// Path returns the path of the program, and builds it first if no test has.
func Path(t *testing.T) string {
	t.Helper()
	built.Do(func() { built.err = build() })
	if built.err != nil {
		t.Fatalf("cannot build koldun: %v", built.err)
	}
	return filepath.Join(built.dir, "koldun")
}

func build() (err error) {
	if built.root != "" {
		if err := sourcetest.Program(context.Background(), built.root, "cmd/koldun"); err != nil {
			return err
		}
	}
	if built.dir, err = os.MkdirTemp("", "koldun-test-"); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", raceFlag, "-o", built.dir, "github.com/gorizond/koldun/cmd/koldun")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// WithoutRace skips a test if the race detector watches the processes: they do what those
// of other tests do, and take five times the CPU time with it.
func WithoutRace(t *testing.T) {
	t.Helper()
	if raceFlag == "-race" {
		t.Skipf("takes long with the race detector; run: go test -run '^%s$' ./cmd/koldun/...", t.Name())
	}
}

// A Process is a running koldun.
type Process struct {
	cmd  *exec.Cmd
	out  *output
	done chan struct{}
}

// output collects the output of a process, and wakes its readers.
type output struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	news chan struct{}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.news)
	o.news = make(chan struct{})
	return o.buf.Write(p)
}

func (o *output) look() (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String(), o.news
}

// Start runs koldun in the background. The end of the test kills the processes that
// it leaves.
func Start(t *testing.T, args ...string) *Process {
	t.Helper()
	return StartEnv(t, nil, args...)
}

// StartEnv starts koldun with further variables of the environment.
func StartEnv(t *testing.T, env []string, args ...string) *Process {
	t.Helper()
	return StartIn(t, "", env, args...)
}

// StartIn starts koldun in a folder.
func StartIn(t *testing.T, dir string, env []string, args ...string) *Process {
	t.Helper()
	p := &Process{cmd: exec.Command(Path(t), args...), out: &output{news: make(chan struct{})}, done: make(chan struct{})}
	p.cmd.Dir = dir
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.WaitDelay = 10 * time.Second
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		if t.Failed() {
			t.Logf("koldun %s:\n%s", strings.Join(args, " "), p.Text())
		}
	})
	return p
}

// Text returns the output so far.
func (p *Process) Text() string {
	s, _ := p.out.look()
	return s
}

// Expect waits until the output has a match, and returns its groups.
func (p *Process) Expect(t *testing.T, pattern string) []string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	limit := time.After(waittest.Patience)
	for {
		text, news := p.out.look()
		if found := re.FindStringSubmatch(text); found != nil {
			return found
		}
		select {
		case <-news:
		case <-p.done:
			text, _ := p.out.look()
			if found := re.FindStringSubmatch(text); found != nil {
				return found
			}
			t.Fatalf("koldun ended without printing %q", pattern)
		case <-limit:
			t.Fatalf("koldun did not print %q", pattern)
		}
	}
}

// Exit waits for the end and returns the exit status.
func (p *Process) Exit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(waittest.Patience):
		t.Fatal("koldun did not end")
		return -1
	}
}

// Interrupt asks the process to end, as Ctrl-C does.
func (p *Process) Interrupt(t *testing.T) {
	t.Helper()
	p.Signal(t, syscall.SIGINT)
}

// Signal sends a signal.
func (p *Process) Signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Kill kills the process, and waits for its end.
func (p *Process) Kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.done
}

// PID returns the id of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }
