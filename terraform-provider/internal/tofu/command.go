package tofu

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"testing"
)

// A Result is what a command wrote, standard output and error together, and
// its exit status.
type Result struct {
	Out  string
	Exit int
	Cmd  *exec.Cmd // that has ended
}

// A Command runs until Wait has returned. It ends with its test at the latest.
type Command struct {
	t   testing.TB
	cmd *exec.Cmd
	out bytes.Buffer
}

// Start starts a command of OpenTofu.
func (f *Folder) Start(args ...string) *Command {
	f.t.Helper()
	c := &Command{t: f.t, cmd: exec.CommandContext(f.t.Context(), f.mirror.program, args...)}
	c.cmd.Dir = f.Dir
	// Nothing of the developer's own settings, connections or colours.
	c.cmd.Env = append([]string{"HOME=" + f.Dir, "PATH=" + os.Getenv("PATH"), "TF_CLI_CONFIG_FILE=" + f.mirror.config, "TF_IN_AUTOMATION=1", "TF_CLI_ARGS=-no-color"}, f.Env...)
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.out
	if err := c.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	return c
}

// Interrupt asks the command to end, as Ctrl-C does.
func (c *Command) Interrupt() {
	c.t.Helper()
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		c.t.Fatal(err)
	}
}

// Wait returns when the command has ended.
func (c *Command) Wait() Result {
	c.t.Helper()
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	return Result{Out: c.out.String(), Exit: c.cmd.ProcessState.ExitCode(), Cmd: c.cmd}
}
