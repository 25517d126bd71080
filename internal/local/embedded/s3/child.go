package s3

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// childEnv marks a process that Start has started.
const childEnv = "KOLDUN_S3_GATEWAY"

// A request is the first line that the parent writes to the standard input of the
// child. The input stays open as long as the parent runs: its end stops the child.
type request struct {
	Config
	// Sidecar and NoTmpFiles make the gateway do without extended attributes and
	// nameless files, as on file systems that lack them.
	Sidecar, NoTmpFiles bool
}

// An answer is the only line that the child writes to file 3.
type answer struct {
	Addr  string     // host:port, empty after an error
	Kind  fault.Kind // of the error
	Error string
}

// A child is the parent's handle of the child process.
type child struct {
	addr  string
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{}
	err   error // set before ended is closed
}

// startChild starts the child and blocks until it answers.
func startChild(ctx context.Context, r request) (*child, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	input, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	answers, report, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = answers.Close() }()
	// The argument is for ps. ctx bounds the start, not the life of the child.
	cmd := exec.Command(exe, "s3-gateway") //nolint:noctx // as above
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.ExtraFiles = []*os.File{report}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the terminal is for the parent alone
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	_ = report.Close()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, stdin: stdin, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		c.err = cmd.Wait()
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fault.Errorf(fault.Transient, "it does not listen after %s", startTimeout))
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	if _, err = stdin.Write(append(input, '\n')); err == nil {
		c.addr, err = readAnswer(answers)
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err != nil {
		_ = c.end(true)
		return nil, err
	}
	return c, nil
}

func readAnswer(r io.Reader) (addr string, err error) {
	var a answer
	if err := json.NewDecoder(r).Decode(&a); err != nil {
		return "", fmt.Errorf("cannot read the answer of its process: %w", err)
	}
	if a.Addr == "" {
		return "", fault.As(a.Kind, errors.New(a.Error))
	}
	return a.Addr, nil
}

// end stops the child and waits for its end.
func (c *child) end(atOnce bool) error {
	_ = c.stdin.Close()
	if atOnce {
		_ = c.cmd.Process.Kill()
		<-c.ended
		return nil
	}
	select {
	case <-c.ended:
	case <-time.After(killAfter):
		_ = c.cmd.Process.Kill()
		<-c.ended
	}
	return c.err
}

// RunChild runs the gateway and exits, if Start has started this process.
// Otherwise it returns at once.
func RunChild() {
	if os.Getenv(childEnv) != "" {
		os.Exit(serve(bufio.NewReader(os.Stdin), os.NewFile(3, "answer")))
	}
}

// serve runs the gateway until input ends, and returns the exit status.
func serve(input *bufio.Reader, report io.WriteCloser) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var r request
	var g *gateway
	line, err := input.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	if err == nil {
		g, err = listen(ctx, r)
	}
	a := answer{Kind: fault.KindOf(err)}
	if err != nil {
		a.Error = err.Error()
	} else {
		a.Addr = g.addr
	}
	if json.NewEncoder(report).Encode(a) != nil || report.Close() != nil || err != nil {
		return 1
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = io.Copy(io.Discard, input)
	}()
	select {
	case <-over:
	case <-g.done:
		return 1
	}
	cancel()
	select {
	case <-g.done:
	case <-time.After(stopGrace): // only idle connections keep it
	}
	return 0
}
