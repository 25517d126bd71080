// Package process runs child processes that never outlive their parent.
//
// Every child leads its own process group, so that a stop reaches its children as
// well, and holds the read end of a pipe whose write end only the parent has.
// When the parent exits for any reason, the child reads the end of the pipe and
// kills its group.
//
// The parent-death signal of Linux would reach only the child, and kill it before
// it could stop its own children.
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

// drainTime limits the wait for output after a process and its group have exited.
const drainTime = time.Second

// A Spec describes a process.
type Spec struct {
	Path string   // of the program, absolute
	Args []string // without the program's name
	Env  []string // the whole environment, KEY=VALUE; the last of equal keys counts
	Dir  string   // working folder

	// Grace is the time between SIGTERM and SIGKILL.
	Grace time.Duration
	// Log gets the whole output of the process. It may be nil.
	Log *Log
	// Started is called with the process id. It may be nil.
	Started func(pid int)
}

// An Exit describes how a process ended.
type Exit struct {
	Code   int            // exit status; -1 if a signal ended it
	Signal syscall.Signal // 0 if none
	Words  string         // the last line of its standard error
}

// OK reports success.
func (e Exit) OK() bool { return e.Code == 0 }

// Status returns the exit status as shells and kubelets define it: 128 plus the
// number of the signal if a signal ended the process.
func (e Exit) Status() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Code
}

// String returns a text such as "exited with status 12: cannot find model".
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

// Run runs a process until it exits. When ctx ends, the group of the process gets
// SIGTERM, and SIGKILL after the grace period. Run returns when the process has
// exited, with an error only if it could not be started.
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

// awaitExit waits for a started process, and stops it when ctx ends.
func awaitExit(ctx context.Context, cmd *exec.Cmd, grace time.Duration) {
	group := -cmd.Process.Pid
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // ProcessState has the result
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
	// Kill its children. While they live, the group's number cannot be reused.
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

// Kept returns the variables that processes inherit: paths and network settings.
// They inherit no others, so that a process behaves the same on every machine.
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
