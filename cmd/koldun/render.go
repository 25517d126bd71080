package main

import (
	"context"
	"fmt"
	"os"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/cmd/koldun/claims"
	"github.com/gorizond/koldun/cmd/koldun/render"
)

// RenderCmd prints what the functions compose from claims.
type RenderCmd struct {
	Files  []string `name:"file" short:"f" required:"" help:"File with claims; - is standard input. May be repeated."`
	Image  string   `default:"${image}" env:"KOLDUN_IMAGE" help:"Image of koldun for the composed pods."`
	Config string   `name:"model-config" type:"existingfile" help:"File config.json of the models' repository: claims whose model cannot run are refused."`
	First  bool     `help:"Print only the first composition, before any composed resource exists."`
}

// Run prints YAML documents: each claim, followed by what it composes.
func (c *RenderCmd) Run(ctx context.Context) error {
	schemas, err := validation.Load()
	if err != nil {
		return err
	}
	read, err := claims.Read(ctx, schemas, c.Files)
	if err != nil {
		return err
	}
	cfg := render.Config{Schemas: schemas, Image: c.Image, First: c.First}
	if c.Config != "" {
		config, err := os.ReadFile(c.Config)
		if err != nil {
			return fmt.Errorf("cannot read the configuration of the models: %w", err)
		}
		cfg.Model = string(config)
	}
	return render.Claims(ctx, cfg, read, os.Stdout)
}
