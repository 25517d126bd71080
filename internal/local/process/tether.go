package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// ParentFD is the environment variable with the number of the file descriptor
// that reaches its end when the parent exits.
const ParentFD = "KOLDUN_PARENT_FD"

// usual is the number of standard file descriptors. (os.Stderr does not help:
// tests with -json replace it by os.Stdout.)
const usual = 3

// A Tether ties the life of processes to this process.
type Tether struct {
	reader, writer *os.File
}

// NewTether returns a tether. Keep it while processes that were run with it live.
func NewTether() (*Tether, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot make a tether: %w", err)
	}
	return &Tether{reader: r, writer: w}, nil
}

// Tie ties a command before its start. It adds the variable ParentFD to Env, which
// must be set before.
func (t *Tether) Tie(cmd *exec.Cmd) {
	fd := usual + len(cmd.ExtraFiles) // extra files follow the standard ones
	cmd.ExtraFiles = append(cmd.ExtraFiles, t.reader)
	cmd.Env = append(cmd.Env, ParentFD+"="+strconv.Itoa(fd))
}

// Close ends all processes that are still tied.
func (t *Tether) Close() {
	_ = t.writer.Close()
	_ = t.reader.Close()
}

// ExitWithParent makes this process and its group exit when its parent has
// exited. Call it first in main. It returns at once, and does nothing in a process
// that was not run with a Tether. Children of this process are in its group and
// need no tether.
func ExitWithParent() {
	number, ok := os.LookupEnv(ParentFD)
	if !ok {
		return
	}
	// Children must not inherit the variable: the descriptor differs in them.
	_ = os.Unsetenv(ParentFD)
	fd, err := strconv.Atoi(number)
	if err != nil || fd < usual {
		return
	}
	syscall.CloseOnExec(fd)
	f := os.NewFile(uintptr(fd), "parent")
	if f == nil {
		return
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	go func() { // runs until the process exits
		_, _ = io.Copy(io.Discard, f)
		if syscall.Getpgrp() == os.Getpid() {
			_ = syscall.Kill(0, syscall.SIGKILL)
		}
		os.Exit(1)
	}()
}
