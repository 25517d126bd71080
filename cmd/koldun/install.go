package main

import (
	"context"
	"fmt"
	"os"

	"github.com/gorizond/koldun/internal/engine/supervise"
)

// InstallCmd copies this program into a volume of the engine's container.
type InstallCmd struct {
	To string `required:"" type:"path" help:"Target file. Its folder must exist."`
}

// Run copies.
func (c *InstallCmd) Run(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find the koldun executable: %w", err)
	}
	return supervise.Install(ctx, self, c.To)
}
