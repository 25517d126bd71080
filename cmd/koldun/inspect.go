package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/gorizond/koldun/internal/artifact/verify"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
)

// InspectCmd reads the headers of converted files that have no manifest.
type InspectCmd struct {
	Folder    string `arg:"" placeholder:"DIR|s3://BUCKET/PREFIX" help:"Folder with the files."`
	Model     string `required:"" placeholder:"FILE" help:"File of the weights in the folder."`
	Tokenizer string `placeholder:"FILE" help:"File of the tokenizer in the folder. It may be left out."`
	Weights   string `placeholder:"TYPE" help:"Wanted type of the weights, such as q40. Defaults to any type."`

	JobFlags
}

// Run inspects. The report is all that comes of it: without it, the Job has to run again.
func (c *InspectCmd) Run(ctx context.Context, log *slog.Logger) error {
	lost, err := c.report(ctx, "inspect", log, func(ctx context.Context, report progress.Func) (progress.Report, error) {
		ref, err := parseSource(c.Folder)
		if err != nil {
			return progress.Report{}, err
		}
		store, err := openSource(ctx, ref)
		if err != nil {
			return progress.Report{}, err
		}
		shape, size, err := verify.Inspect(ctx, verify.Converted{Store: store, Model: c.Model, Tokenizer: c.Tokenizer, Weights: c.Weights})
		if err != nil {
			return progress.Report{}, err
		}
		report(progress.Report{Stage: "inspect", Phase: progress.Running, Bytes: size, Total: size})
		log.Info("inspected", "model", store.URL(), "bytes", size, "arch", shape.Arch, "weights", shape.Weights, "context", shape.SeqLen)
		return progress.Report{Shape: &shape}, nil
	})
	if err == nil && lost != nil {
		err = fault.As(fault.Transient, fmt.Errorf("cannot report the headers of file %q: %w", c.Model, lost))
	}
	return err
}
