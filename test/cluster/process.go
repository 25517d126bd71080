package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gorizond/koldun/test/waittest"
)

// patience is how long Stop waits on an idle machine before it kills a program.
const patience = 10 * time.Second

// A Process is a program of a cluster, which can be killed and restarted. It is safe
// for concurrent use.
type Process struct {
	name string
	path string
	args []string
	env  []string
	log  string

	mu  sync.Mutex
	run *run
}

// A run is one operating system process of a Process.
type run struct {
	process *os.Process
	done    chan struct{} // closed when the process has ended
	err     error         // why it ended; read after done
}

// Run runs a program, such as a provider, until the cluster stops. env adds to the
// variables of this process. A failed test prints the program's log.
func (ps *programs) Run(name, path string, env []string, args ...string) (*Process, error) {
	p := ps.add(name, path, slices.Concat(os.Environ(), env), args...)
	return p, p.Start()
}

// Start starts the program, and appends its output to its log.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run != nil && !closed(p.run.done) {
		return fmt.Errorf("cannot start %s: it is already running", p.name)
	}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("cannot open log of %s: %w", p.name, err)
	}
	cmd := exec.Command(p.path, p.args...)
	cmd.Env = p.env
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = dieWithParent()

	r := &run{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Keep the thread as long as the child, see dieWithParent.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer out.Close() //nolint:errcheck // the child wrote it, not us
		defer close(r.done)
		err := cmd.Start()
		r.process = cmd.Process
		started <- err
		if err == nil {
			r.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("cannot start %s: %w", p.name, err)
	}
	p.run = r
	return nil
}

// Stop asks the program to end, kills it if it does not in time, and
// returns when it has ended.
func (p *Process) Stop() {
	r := p.current()
	if r == nil {
		return
	}
	_ = r.process.Signal(syscall.SIGTERM)
	select {
	case <-r.done:
	case <-time.After(waittest.Limit(patience)):
		p.Kill()
	}
}

// Kill kills the program, and returns when it has ended.
func (p *Process) Kill() {
	r := p.current()
	if r == nil {
		return
	}
	_ = r.process.Kill()
	<-r.done
}

// Restart kills the program and starts it again.
func (p *Process) Restart() error {
	p.Kill()
	return p.Start()
}

// wait waits until the program has ended. It returns an error unless the exit status
// is 0.
func (p *Process) wait(ctx context.Context) error {
	r := p.current()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// err returns why the program has ended, or nil while it runs.
func (p *Process) err() error {
	r := p.current()
	if r == nil {
		return fmt.Errorf("%s was not started", p.name)
	}
	if !closed(r.done) {
		return nil
	}
	if r.err != nil {
		return fmt.Errorf("%s ended: %w", p.name, r.err)
	}
	return errors.New(p.name + " ended")
}

func (p *Process) current() *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
