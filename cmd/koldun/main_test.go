package main_test

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
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/local/process/processtest"
	"github.com/gorizond/koldun/test/waittest"
)

// program is the path of the koldun binary, built once for all tests.
var program string //nolint:gochecknoglobals // TestMain has no other way

func TestMain(m *testing.M) {
	if s3test.Child() {
		s3test.Main(m)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "koldun-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "koldun")
	build := exec.Command("go", "build", raceFlag, "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot build koldun: %v\n%s", err, out)
		return 1
	}
	return s3test.Run(m)
}

// withoutRace skips a test if the race detector watches the processes: they do what those
// of other tests do, and take five times the CPU time with it.
func withoutRace(t *testing.T) {
	t.Helper()
	if raceFlag == "-race" {
		t.Skipf("takes long with the race detector; run: go test -run '^%s$' ./cmd/koldun", t.Name())
	}
}

// A process is a running koldun.
type process struct {
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

// start runs koldun in the background. The end of the test kills the processes that
// it leaves.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startEnv(t, nil, args...)
}

func startEnv(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	return startIn(t, "", env, args...)
}

// startIn starts koldun in a folder.
func startIn(t *testing.T, dir string, env []string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(program, args...), out: &output{news: make(chan struct{})}, done: make(chan struct{})}
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
			t.Logf("koldun %s:\n%s", strings.Join(args, " "), p.text())
		}
	})
	return p
}

func (p *process) text() string {
	s, _ := p.out.look()
	return s
}

// expect waits until the output has a match, and returns its groups.
func (p *process) expect(t *testing.T, pattern string) []string {
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

// exit waits for the end and returns the exit status.
func (p *process) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(waittest.Patience):
		t.Fatal("koldun did not end")
		return -1
	}
}

func (p *process) interrupt(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
}

// descendants lists the processes below a process, by command line.
func descendants(t *testing.T, pid int) map[int]string {
	t.Helper()
	out := map[int]string{}
	parents := []int{pid}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for len(parents) > 0 {
		parent := parents[0]
		parents = parents[1:]
		for _, name := range stats {
			raw, err := os.ReadFile(name)
			if err != nil {
				continue // it has ended
			}
			var child, ppid int
			var state string
			rest := string(raw[bytes.LastIndexByte(raw, ')')+1:])
			if _, err := fmt.Sscan(rest, &state, &ppid); err != nil || ppid != parent || state == "Z" {
				continue
			}
			if _, err := fmt.Sscan(string(raw), &child); err != nil {
				continue
			}
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
			out[child] = strings.ReplaceAll(string(line), "\x00", " ")
			parents = append(parents, child)
		}
	}
	return out
}

// gone waits until all of the processes have ended.
func gone(t *testing.T, pids map[int]string) {
	t.Helper()
	ctx := waittest.Context(t)
	for pid, line := range pids {
		if err := waitGone(ctx, pid); err != nil {
			t.Errorf("process %d still runs: %s", pid, line)
		}
	}
}

func waitGone(ctx context.Context, pid int) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for processtest.Alive(pid) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// Wrong arguments name the command whose help describes them.
func TestWrongArguments(t *testing.T) {
	for args, want := range map[string]string{
		"":                     "koldun --help describes them",
		"requests list --stat": "unknown flag --stat.*; koldun requests list --help describes them",
	} {
		p := start(t, strings.Fields(args)...)
		p.expect(t, want)
		if code := p.exit(t); code == 0 {
			t.Errorf("koldun %s succeeds", args)
		}
	}
}
