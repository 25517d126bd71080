package main

import (
	"context"
	"fmt"
	"os"

	"github.com/gorizond/koldun/internal/supervise"
)

// InstallCmd copies this program to where the container of an engine finds it.
type InstallCmd struct {
	To string `required:"" type:"path" help:"File to copy this program to. Its folder must exist."`
}

// Run copies.
func (c *InstallCmd) Run(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program: %w", err)
	}
	return supervise.Install(ctx, self, c.To)
}
