package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// ParentFD names the environment variable with the number of the file that
// comes to its end when the parent does.
const ParentFD = "KOLDUN_PARENT_FD"

// usual is how many files every process begins with: input, output, errors.
// (os.Stderr need not tell: tests with -json let it be os.Stdout.)
const usual = 3

// A Tether ties processes to the life of this one.
type Tether struct {
	reader, writer *os.File
}

// NewTether makes a tether. It must be kept as long as processes live that were
// run with it.
func NewTether() (*Tether, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot make a tether: %w", err)
	}
	return &Tether{reader: r, writer: w}, nil
}

// Tie puts a command that has not been started on the tether. Its Env must be
// set already: the variable ParentFD is added to it.
func (t *Tether) Tie(cmd *exec.Cmd) {
	fd := usual + len(cmd.ExtraFiles) // its extra files follow
	cmd.ExtraFiles = append(cmd.ExtraFiles, t.reader)
	cmd.Env = append(cmd.Env, ParentFD+"="+strconv.Itoa(fd))
}

// Close ends all processes that are still on the tether.
func (t *Tether) Close() {
	_ = t.writer.Close()
	_ = t.reader.Close()
}

// ExitWithParent makes this process and the group it leads end when the
// process is gone that ran it. To be called first of all in main; it returns
// at once, and does nothing in a process that no Tether has run. The processes
// that this one starts are in its group and need no tether of their own.
func ExitWithParent() {
	number, ok := os.LookupEnv(ParentFD)
	if !ok {
		return
	}
	// Not for children of ours: in them it would be another file.
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
	go func() { // lives as long as the process
		_, _ = io.Copy(io.Discard, f)
		if syscall.Getpgrp() == os.Getpid() {
			_ = syscall.Kill(0, syscall.SIGKILL)
		}
		os.Exit(1)
	}()
}
