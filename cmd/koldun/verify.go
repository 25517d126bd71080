package main

import (
	"context"
	"log/slog"

	"github.com/gorizond/koldun/internal/artifact/verify"
)

// VerifyCmd checks the stored files of a model.
type VerifyCmd struct {
	Model   string `arg:"" placeholder:"DIR|s3://BUCKET/PREFIX" help:"Folder of a fetched or converted model."`
	Workers int    `default:"4" help:"Number of files to read in parallel."`
}

// Run verifies.
func (c *VerifyCmd) Run(ctx context.Context, log *slog.Logger) error {
	ref, err := parseSource(c.Model)
	if err != nil {
		return err
	}
	store, err := openSource(ctx, ref)
	if err != nil {
		return err
	}
	reports, err := newReporter(ctx, "", log)
	if err != nil {
		return err
	}
	m, err := verify.Run(ctx, verify.Config{Store: store, Workers: c.Workers, Progress: reports.Report})
	_ = reports.End("verify", nil, err)
	if err != nil {
		return err
	}
	log.Info("verified", "model", store.URL(), "files", len(m.Files), "bytes", m.Size())
	return nil
}
