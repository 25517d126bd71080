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

// lastWords is how long output is read after the process and its group ended.
const lastWords = time.Second

// A child is a running process that leads a group of its own.
type child struct {
	pid  int
	late bool          // its lines come by blocks
	done chan struct{} // closed once it has ended and its output is read
	how  string        // it ended; for people; valid once done
}

// start runs a command, and copies its output until it ends. births is held
// while the process is being made.
func start(command []string, out *output, births *sync.Mutex, born func(pid int)) (*child, error) {
	type result struct {
		c   *child
		err error
	}
	started := make(chan result)
	go func() {
		// The kernel ends the process with the thread that has made it, so this
		// one stays until then.
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
	c.signal(syscall.SIGKILL) // whoever it has started
	for _, s := range outputs {
		s.drain()
	}
	out.end()
	c.how = "exited with status 0"
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		c.how = exit.String()
	case err != nil:
		c.how = err.Error()
	}
}

// signal reaches the whole group. One that is gone needs none.
func (c *child) signal(s syscall.Signal) { _ = syscall.Kill(-c.pid, s) }

// A source is one stream of a child's output. It is ours and not os/exec's,
// because that would wait for whoever has inherited it.
type source struct {
	r, w   *os.File
	copied chan struct{}
}

// newStdout is a terminal, or a pipe where there is none: then lines are late.
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

// copy ends with an error when nobody holds the other end any more.
func (s *source) copy(to io.Writer) {
	defer close(s.copied)
	_, _ = io.Copy(to, s.r)
}

// drain takes what is left once the process has ended.
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
