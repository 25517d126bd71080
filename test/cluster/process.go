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
)

// patience with a program that was asked to stop.
const patience = 10 * time.Second

// A Process is one program of a cluster. It can be killed and started again.
// It is safe for concurrent use.
type Process struct {
	name string
	path string
	args []string
	env  []string
	log  string

	mu  sync.Mutex
	run *run
}

// A run is one life of a Process.
type run struct {
	process *os.Process
	done    chan struct{} // closed when the process is gone
	err     error         // why it ended; read after done
}

// Run a program beside the control plane until that stops: a provider, a
// function. The variables come besides those of this process. What it logged is
// printed when a test fails.
func (c *Cluster) Run(name, path string, env []string, args ...string) (*Process, error) {
	p := c.add(name, path, slices.Concat(os.Environ(), env), args...)
	return p, p.Start()
}

// Start the program. Its output is appended to its log.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run != nil && !closed(p.run.done) {
		return fmt.Errorf("cannot start %s: it runs already", p.name)
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
		// The thread must live as long as the child, see dieWithParent.
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

// Stop asks the program to end, kills it if it does not within 10 seconds, and
// returns when it is gone.
func (p *Process) Stop() {
	r := p.current()
	if r == nil {
		return
	}
	_ = r.process.Signal(syscall.SIGTERM)
	select {
	case <-r.done:
	case <-time.After(patience):
		p.Kill()
	}
}

// Kill ends the program without warning, and returns when it is gone.
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

// wait until the program has ended, and return an error if not with status 0.
func (p *Process) wait(ctx context.Context) error {
	r := p.current()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// err is why the program ended; nil while it runs.
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
