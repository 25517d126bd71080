package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/gorizond/koldun/internal/artifact/fetch"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/model/progress"
)

// FetchCmd downloads a model. It reads HF_ENDPOINT (a hub other than
// huggingface.co), HF_TOKEN (for gated and private repositories) and the AWS_*
// variables for S3.
type FetchCmd struct {
	From        string        `required:"" placeholder:"SOURCE" help:"Source: https://huggingface.co/ORG/REPO[/tree/REVISION], hf://ORG/REPO[@REVISION], s3://BUCKET/PREFIX or file:///FOLDER."`
	To          string        `required:"" placeholder:"DIR|s3://BUCKET/PREFIX" help:"Target folder."`
	Include     []string      `sep:"none" help:"Download only files that match this pattern. May be repeated. Default: the files that a conversion needs."`
	Exclude     []string      `sep:"none" help:"Skip files that match this pattern. May be repeated."`
	Concurrency int           `default:"8" help:"Number of parts to download in parallel."`
	PartSize    int64         `default:"8" help:"Size of a part in MiB, at least 5. Memory use is concurrency times part size."`
	Stall       time.Duration `default:"30s" help:"Replace a connection that delivers nothing for this time."`
	Reload      string        `placeholder:"ID" help:"Download files again that the target has. The same ID again continues and does not repeat that."`
	Owner       string        `placeholder:"NAMESPACE/NAME" help:"Object that the target folder belongs to. A model of another owner in it is not replaced."`

	HubFlags
	JobFlags
}

// maxPartMiB prevents an overflow of the size in bytes; package fetch checks the
// bounds.
const maxPartMiB = 1024

// Run fetches.
func (c *FetchCmd) Run(ctx context.Context, log *slog.Logger) error {
	ref, err := parseSource(c.From)
	if err != nil {
		return err
	}
	if c.PartSize > maxPartMiB {
		return fault.Errorf(fault.Invalid, "cannot use parts of %d MiB: want 5 to %d", c.PartSize, maxPartMiB)
	}
	return c.do(ctx, "fetch", log, func(ctx context.Context, report progress.Func) (progress.Report, error) {
		m, err := c.fetch(ctx, ref, fetch.Options{
			Include:     c.Include,
			Exclude:     c.Exclude,
			Concurrency: c.Concurrency,
			PartSize:    c.PartSize << 20,
			Stall:       c.Stall,
			Progress:    report,
			Log:         log,
			Reload:      c.Reload,
			Owner:       c.Owner,
		})
		if err == nil {
			log.Info("fetched", "from", ref.String(), "commit", m.Origin.Commit, "to", c.To, "files", len(m.Files), "bytes", m.Size())
		}
		return progress.Report{Shape: m.Shape}, err
	})
}

func (c *FetchCmd) fetch(ctx context.Context, ref modelref.Ref, o fetch.Options) (manifest.Manifest, error) {
	to, err := openStore(ctx, folder(c.To))
	if err != nil {
		return manifest.Manifest{}, err
	}
	if ref.Scheme != modelref.Hub {
		from, err := openSource(ctx, ref)
		if err != nil {
			return manifest.Manifest{}, err
		}
		return fetch.Copy(ctx, fetch.CopyConfig{From: from, To: to, Options: o})
	}
	h, err := c.open(ref, o.Log)
	if err != nil {
		return manifest.Manifest{}, err
	}
	return fetch.Run(ctx, fetch.Config{Hub: h, Ref: ref, To: to, Options: o})
}
