package serving_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	local "github.com/gorizond/koldun/internal/local/process"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/test/waittest"
)

// aborted is the exit code of a process that called abort, as distributed-llama does when a
// connection ends without a request: so it may end with a sidecar that is killed.
const aborted = 128 + int(syscall.SIGABRT)

// A process is a program that restarts after the test has ended it or it has aborted, as a
// container in Kubernetes does.
type process struct {
	tb   testing.TB
	name string
	args []string
	env  []string
	logs string // file of standard error
	out  string // file of standard output
	attr func(*syscall.SysProcAttr)

	tether *local.Tether
	mu     sync.Mutex
	cmd    *exec.Cmd
	done   chan struct{} // closed when cmd has ended, and another runs if it is restarted
	halted bool          // the test ends it
	aborts int           // how often it was restarted without the test
	ended  time.Duration // CPU time of its ended processes
}

func (ps *processes) start(name string, env []string, args ...string) *process {
	return ps.startWith(func(*syscall.SysProcAttr) {}, name, env, args...)
}

// startWith is start with attributes of its own.
func (ps *processes) startWith(attr func(*syscall.SysProcAttr), name string, env []string, args ...string) *process {
	p := &process{
		tb: ps.tb, name: name, args: args, env: env, attr: attr, tether: ps.tie(),
		logs: filepath.Join(ps.dir, name+".log"), out: filepath.Join(ps.dir, name+".out"),
	}
	p.start()
	ps.all = append(ps.all, p)
	ps.tb.Cleanup(func() {
		p.halt()
		text, _ := os.ReadFile(p.logs)
		if v := violations(text); len(v) > 0 {
			ps.tb.Errorf("%s has not the rights that it needs, or uses others:\n%s", name, v[:min(len(v), 1500)])
		}
		if ps.tb.Failed() {
			ps.tb.Logf("%s wrote:\n%s", name, tail(text, 1500))
		}
	})
	return p
}

// tie returns the tether that ends all processes of the stack when the test ends,
// even if it is killed.
func (ps *processes) tie() *local.Tether {
	ps.tb.Helper()
	if ps.tether != nil {
		return ps.tether
	}
	t, err := local.NewTether()
	if err != nil {
		ps.tb.Fatal(err)
	}
	ps.tether = t
	ps.tb.Cleanup(t.Close)
	return t
}

// logLines returns the log lines of the processes that contain the id of a request,
// up to 20 kB.
func (ps *processes) logLines(id string) string {
	var b strings.Builder
	for _, p := range ps.all {
		text, _ := os.ReadFile(p.logs)
		for line := range bytes.Lines(text) {
			if bytes.Contains(line, []byte(id)) && b.Len() < 20_000 {
				fmt.Fprintf(&b, "%s: %s", p.name, line)
			}
		}
	}
	return b.String()
}

func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

func (p *process) start() {
	p.tb.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.halted = false
	if err := p.launch(); err != nil {
		p.tb.Fatal(err)
	}
}

// launch starts the program. The caller holds mu.
func (p *process) launch() error {
	logs, err := os.OpenFile(p.logs, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = logs.Close() }()
	out, err := os.OpenFile(p.out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = out, logs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.attr(cmd.SysProcAttr)
	p.tether.Tie(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	p.cmd, p.done = cmd, done
	go func() {
		defer close(done)
		_ = cmd.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		if cmd.ProcessState.ExitCode() == aborted && !p.halted {
			p.aborts++
			if err := p.launch(); err != nil {
				p.tb.Errorf("%s does not start again: %v", p.name, err)
			}
		}
	}()
	return nil
}

func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.cmd.Process.Signal(s)
}

// end sends a signal that ends the process, and returns what is closed then.
func (p *process) end(s syscall.Signal) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.halted = true
	_ = p.cmd.Process.Signal(s)
	return p.done
}

// kill sends SIGKILL and restarts the process.
func (p *process) kill() {
	p.tb.Helper()
	p.halt()
	p.start()
}

// halt sends SIGKILL, and leaves the process ended until start.
func (p *process) halt() { <-p.end(syscall.SIGKILL) }

// terminate sends SIGTERM, as a rollout does, and restarts the process.
func (p *process) terminate() {
	p.tb.Helper()
	done := p.end(syscall.SIGTERM)
	select {
	case <-done:
	case <-time.After(waittest.Patience):
		p.tb.Errorf("%s does not end", p.name)
		p.halt()
	}
	p.start()
}

// ran reports whether the process still runs, and has never aborted.
func (p *process) ran() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return false
	default:
		return p.aborts == 0
	}
}

// freeze suspends the process for the time d.
func (p *process) freeze(ctx context.Context, d time.Duration) {
	p.signal(syscall.SIGSTOP)
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	p.signal(syscall.SIGCONT)
}

// cpu returns the CPU time that the process has used.
func (p *process) cpu() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	total := time.Duration(0)
	// schedstat counts nanoseconds; /proc/PID/stat counts ticks.
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/task/*/schedstat")
	for _, name := range tasks {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // a thread that has ended meanwhile
		}
		if f := strings.Fields(string(text)); len(f) > 0 {
			ns, _ := strconv.ParseInt(f[0], 10, 64)
			total += time.Duration(ns)
		}
	}
	return p.ended + total
}

func (p *process) output() []byte {
	text, err := os.ReadFile(p.out)
	if err != nil {
		p.tb.Fatal(err)
	}
	return text
}

// address returns a free loopback address.
func address(tb testing.TB) string {
	tb.Helper()
	return porttest.Address(tb)
}

// ready waits until the health port at addr reports ready.
func ready(tb testing.TB, addr string) {
	tb.Helper()
	waittest.Until(tb, addr+" to be ready", func() bool {
		resp, err := waittest.Client().Get("http://" + addr + "/readyz")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

func lines(b []byte) [][]byte { return bytes.Split(bytes.TrimSpace(b), []byte("\n")) }
