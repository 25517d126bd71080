package supervise

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// lastWords limits reading the output after a process and its group have ended.
const lastWords = time.Second

// A child is a running process that leads its own group.
type child struct {
	pid  int
	late bool          // whether its output arrives in blocks
	done chan struct{} // closed when it has ended and its output has been read
	how  string        // description of its end; valid after done
	// illegal means that an illegal instruction has ended it; valid after done.
	illegal bool
}

// start runs a command, and copies its output until it ends. It holds births while
// it creates the process.
func start(command []string, out *output, births *sync.Mutex, born func(pid int)) (*child, error) {
	type result struct {
		c   *child
		err error
	}
	started := make(chan result)
	go func() {
		// The kernel kills the process with the thread that created it, so this
		// thread stays.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		c, cmd, outputs, err := launch(command, out, births, born)
		started <- result{c, err}
		if err == nil {
			c.attend(cmd, outputs, out)
		}
	}()
	r := <-started
	return r.c, r.err
}

func launch(command []string, out *output, births *sync.Mutex, born func(pid int)) (*child, *exec.Cmd, []*source, error) {
	stdout, late, err := newStdout()
	if err != nil {
		return nil, nil, nil, err
	}
	stderr, err := newPipe()
	if err != nil {
		stdout.close()
		return nil, nil, nil, err
	}
	cmd := exec.Command(command[0], command[1:]...) //nolint:noctx // it may outlive the context: see drain
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = stdout.w, stderr.w, attributes()
	births.Lock()
	err = cmd.Start()
	if err == nil {
		born(cmd.Process.Pid)
	}
	births.Unlock()
	if err != nil {
		stdout.close()
		stderr.close()
		return nil, nil, nil, fmt.Errorf("cannot start %q: %w", command[0], err)
	}
	out.begin()
	outputs := []*source{stdout, stderr}
	for i, s := range outputs {
		go s.copy(out.stream(i)) // until the output is closed or the deadline of attend
	}
	return &child{pid: cmd.Process.Pid, late: late, done: make(chan struct{})}, cmd, outputs, nil
}

// attend waits for the end.
func (c *child) attend(cmd *exec.Cmd, outputs []*source, out *output) {
	defer close(c.done)
	err := cmd.Wait()
	c.signal(syscall.SIGKILL) // its children
	for _, s := range outputs {
		s.drain()
	}
	out.end()
	c.how = "exited with status 0"
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		c.how = exit.String()
		if w, ok := exit.Sys().(syscall.WaitStatus); ok {
			c.illegal = w.Signaled() && w.Signal() == syscall.SIGILL
		}
	case err != nil:
		c.how = err.Error()
	}
}

// signal signals the whole group, if it exists.
func (c *child) signal(s syscall.Signal) { _ = syscall.Kill(-c.pid, s) }

// A source is one stream of a child's output. os/exec would wait for all processes
// that inherit the stream.
type source struct {
	r, w   *os.File
	copied chan struct{}
}

// newStdout returns a terminal or, where that is not possible, a pipe, whose lines
// arrive late.
func newStdout() (s *source, late bool, err error) {
	if r, w, err := openTerminal(); err == nil {
		return &source{r: r, w: w, copied: make(chan struct{})}, false, nil
	}
	s, err = newPipe()
	return s, true, err
}

func newPipe() (*source, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot make a pipe: %w", err)
	}
	return &source{r: r, w: w, copied: make(chan struct{})}, nil
}

// copy ends with an error when no process holds the other end.
func (s *source) copy(to io.Writer) {
	defer close(s.copied)
	_, _ = io.Copy(to, s.r)
}

// drain reads the rest when the process has ended.
func (s *source) drain() {
	_ = s.w.Close()
	_ = s.r.SetReadDeadline(time.Now().Add(lastWords))
	<-s.copied
	_ = s.r.Close()
}

func (s *source) close() {
	_ = s.w.Close()
	_ = s.r.Close()
}
