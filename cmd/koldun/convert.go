package main

import (
	"context"
	"log/slog"

	"github.com/gorizond/koldun/internal/artifact/convert"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/model/topology"
)

// ConvertCmd converts a model.
type ConvertCmd struct {
	From    string `required:"" placeholder:"DIR|s3://BUCKET/PREFIX" help:"Folder of the downloaded model."`
	To      string `required:"" placeholder:"DIR|s3://BUCKET/PREFIX" help:"Target folder."`
	Weights string `default:"q40" enum:"q40,f32,f16,q80" help:"Type of the matrix weights: ${enum}. Engines support q40 and f32."`
	Name    string `required:"" help:"Model name, used in the file names."`
	Only    string `default:"" enum:",model,tokenizer" help:"Convert only the model or only the tokenizer."`
	Workers int    `default:"0" help:"Number of worker goroutines; 0 is one per core."`

	JobFlags
}

// Run converts.
func (c *ConvertCmd) Run(ctx context.Context, log *slog.Logger) error {
	return c.do(ctx, "convert", log, func(ctx context.Context, report progress.Func) (progress.Report, error) {
		from, to, err := c.stores(ctx)
		if err != nil {
			return progress.Report{}, err
		}
		m, err := convert.Run(ctx, convert.Config{
			From:     from,
			To:       to,
			Name:     c.Name,
			Weights:  topology.FloatType(c.Weights),
			Only:     convert.Part(c.Only),
			Workers:  c.Workers,
			Progress: report,
			Log:      log,
		})
		if err == nil {
			log.Info("converted", "to", to.URL(), "files", len(m.Files), "bytes", m.Size())
		}
		return progress.Report{Shape: m.Shape}, err
	})
}

func (c *ConvertCmd) stores(ctx context.Context) (from, to objectstore.Store, err error) {
	ref, err := parseSource(c.From)
	if err != nil {
		return nil, nil, err
	}
	if from, err = openSource(ctx, ref); err != nil {
		return nil, nil, err
	}
	to, err = openStore(ctx, folder(c.To))
	return from, to, err
}
