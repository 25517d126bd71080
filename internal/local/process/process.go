// Package process runs child processes that never outlive their parent.
//
// Every child is the leader of a process group of its own, so that a stop
// reaches whatever it has started, and holds the reading end of a pipe whose
// other end only the parent has. When the parent is gone, however it went, the
// child reads the end of that pipe and takes its group with it.
//
// The parent-death signal of Linux is not used: it reaches only the child, and
// would be there before the child could end its own children.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// drainTime is how long output is awaited after a process and its group ended.
const drainTime = time.Second

// A Spec describes a process.
type Spec struct {
	Path string   // of the program, absolute
	Args []string // after the program's name
	Env  []string // all of the environment, KEY=VALUE; the last of equal keys counts
	Dir  string   // working folder

	// Grace is how long the process has between SIGTERM and SIGKILL.
	Grace time.Duration
	// Log takes everything that the process writes. May be nil.
	Log *Log
	// Started is told the process id. May be nil.
	Started func(pid int)
}

// An Exit is how a process ended.
type Exit struct {
	Code   int            // exit status; -1 if a signal ended it
	Signal syscall.Signal // 0 if none
	Words  string         // the last that it wrote to standard error, one line
}

// OK reports success.
func (e Exit) OK() bool { return e.Code == 0 }

// Status is the exit status as shells and kubelets count it: 128 and the
// number of the signal if one ended the process.
func (e Exit) Status() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Code
}

// String is for people: "exited with status 12: cannot find model".
func (e Exit) String() string {
	if e.Signal != 0 {
		return "was ended by signal " + e.Signal.String() // unforeseen: its last words are of something else
	}
	s := "exited with status " + strconv.Itoa(e.Code)
	if e.Words == "" || e.OK() {
		return s
	}
	return s + ": " + e.Words
}

// Run runs a process to its end. When ctx ends, so does the process: its group
// gets SIGTERM, and SIGKILL after the grace. Run returns only when the process
// is gone, with an error only if it could not be started.
func (t *Tether) Run(ctx context.Context, s Spec) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, err
	}
	var last tail
	out, err := newOutput(s.Log)
	if err != nil {
		return Exit{}, fmt.Errorf("cannot start %q: %w", s.Path, err)
	}
	errs, err := newOutput(s.Log, &last)
	if err != nil {
		out.drain()
		return Exit{}, fmt.Errorf("cannot start %q: %w", s.Path, err)
	}

	cmd := exec.Command(s.Path, s.Args...) //nolint:noctx // ctx is heeded below, for the whole group
	cmd.Env = slices.Clone(s.Env)
	cmd.Dir = s.Dir
	cmd.Stdout, cmd.Stderr = out.writer, errs.writer
	t.Tie(cmd)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	if err == nil {
		if s.Started != nil {
			s.Started(cmd.Process.Pid)
		}
		awaitExit(ctx, cmd, s.Grace)
	}
	out.drain()
	errs.drain()
	if err != nil {
		return Exit{}, fault.As(startFault(err), fmt.Errorf("cannot start %q: %w", s.Path, err))
	}
	return exitOf(cmd.ProcessState, last.line()), nil
}

// awaitExit waits for a started process, and ends it when ctx does.
func awaitExit(ctx context.Context, cmd *exec.Cmd, grace time.Duration) {
	group := -cmd.Process.Pid
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // ProcessState tells all of it
	}()
	select {
	case <-exited:
	case <-ctx.Done():
		_ = syscall.Kill(group, syscall.SIGTERM)
		patience := time.NewTimer(grace)
		defer patience.Stop()
		select {
		case <-exited:
		case <-patience.C:
		}
	}
	// What it has started must not stay. While that lives, nobody else can
	// have the group's number.
	_ = syscall.Kill(group, syscall.SIGKILL)
	<-exited
}

func exitOf(state *os.ProcessState, words string) Exit {
	e := Exit{Code: state.ExitCode(), Words: words}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal = ws.Signal()
	}
	return e
}

func startFault(err error) fault.Kind {
	switch {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EMFILE):
		return fault.Transient
	case errors.Is(err, os.ErrNotExist):
		return fault.NotFound
	case errors.Is(err, os.ErrPermission):
		return fault.Denied
	}
	return fault.KindOf(err)
}

// Kept are the variables that processes take over from this one: where things
// are and how the network is reached. No others, so that a process behaves the
// same on every machine.
func Kept() []string {
	var kept []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch strings.ToUpper(name) {
		case "PATH", "HOME", "TMPDIR", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR",
			"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
			"GODEBUG", "GOTRACEBACK", "GOMAXPROCS", "GOMEMLIMIT", "GORACE", "GOCOVERDIR":
			kept = append(kept, kv)
		}
	}
	return kept
}
