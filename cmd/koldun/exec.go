package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// ExecCmd runs a program that does not know the process that has started this one. It ends
// with this process, and so with koldun up.
type ExecCmd struct {
	Command []string `arg:"" passthrough:"" help:"Program and arguments, after --."`
}

// Run runs the program until it exits, with its status. Signals reach it by the group of
// this process.
func (c *ExecCmd) Run() error {
	command := c.Command
	if command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		return errors.New("cannot run a program: none is named after --")
	}
	cmd := exec.Command(command[0], command[1:]...) //nolint:noctx // signals end its group
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &exit):
		return fmt.Errorf("cannot run %q: %w", command[0], err)
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		os.Exit(128 + int(ws.Signal()))
	}
	os.Exit(exit.ExitCode())
	return nil
}
