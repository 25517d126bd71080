package clitest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A Folder is a working directory of the CLI with a configuration, and the
// environment of its commands.
type Folder struct {
	t      testing.TB
	mirror *Mirror
	Dir    string
	Env    []string
}

// Folder creates a folder with a configuration in main.tf, and initialises it.
func (m *Mirror) Folder(t testing.TB, config string, env ...string) *Folder {
	t.Helper()
	f := &Folder{t: t, mirror: m, Dir: t.TempDir(), Env: env}
	f.Write("main.tf", config)
	f.OK("init")
	return f
}

// Copy creates a folder with the files of another one, and initialises it.
func (m *Mirror) Copy(t testing.TB, from string, env ...string) *Folder {
	t.Helper()
	f := &Folder{t: t, mirror: m, Dir: t.TempDir(), Env: env}
	if err := os.CopyFS(f.Dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	f.OK("init")
	return f
}

// Write writes a file of the folder.
func (f *Folder) Write(name, content string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.Dir, name), []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// Run runs a command of the CLI.
func (f *Folder) Run(args ...string) Result {
	f.t.Helper()
	return f.Start(args...).Wait()
}

// OK runs a command, fails the test if it fails, and returns its output.
func (f *Folder) OK(args ...string) string {
	f.t.Helper()
	r := f.Run(args...)
	if r.Exit != 0 {
		f.t.Fatalf("%s %s exits with %d:\n%s", filepath.Base(f.mirror.program), strings.Join(args, " "), r.Exit, r.Out)
	}
	return r.Out
}

// A Result is what a command wrote and how it exited.
type Result struct {
	Out  string // standard output and standard error
	Exit int
	Cmd  *exec.Cmd
}

// A Command is a running CLI. The test's context ends it at the latest.
type Command struct {
	t   testing.TB
	cmd *exec.Cmd
	out bytes.Buffer
}

// Start starts a command of the CLI in the folder.
func (f *Folder) Start(args ...string) *Command {
	f.t.Helper()
	c := &Command{t: f.t, cmd: exec.CommandContext(f.t.Context(), f.mirror.program, args...)}
	c.cmd.Dir = f.Dir
	// The developer's own settings and connections must not reach the command.
	c.cmd.Env = append([]string{"HOME=" + f.Dir, "PATH=" + os.Getenv("PATH"), "TF_CLI_CONFIG_FILE=" + f.mirror.config, "TF_IN_AUTOMATION=1", "TF_CLI_ARGS=-no-color"}, f.Env...)
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.out
	if err := c.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	return c
}

// Interrupt sends the signal of Ctrl-C.
func (c *Command) Interrupt() {
	c.t.Helper()
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		c.t.Fatal(err)
	}
}

// Wait waits until the command exits.
func (c *Command) Wait() Result {
	c.t.Helper()
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	return Result{Out: c.out.String(), Exit: c.cmd.ProcessState.ExitCode(), Cmd: c.cmd}
}
