package main

import (
	"cmp"
	"context"
	"log/slog"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/cmd/koldun/claims"
	"github.com/gorizond/koldun/functions/model"
	"github.com/gorizond/koldun/internal/artifact/adopt"
	"github.com/gorizond/koldun/internal/artifact/fetch"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/model/progress"
)

// AdoptCmd copies files of a model that another system has downloaded or converted
// to the folder where a Model looks for them. It reads HF_ENDPOINT, HF_TOKEN and the
// AWS_* variables for S3, as fetch does.
type AdoptCmd struct {
	Files []string `name:"file" short:"f" required:"" help:"File with the Model, or the Dllama with the model; - is standard input. May be repeated."`
	Name  string   `help:"Name of the Model or Dllama. It may be left out if there is only one."`
	From  string   `required:"" placeholder:"DIR|s3://BUCKET/PREFIX" help:"Folder with the files: converted ones of distributed-llama, or those of the repository."`

	ConvertedName string `placeholder:"NAME" help:"Name in the names of the converted files. It may be left out if there is only one."`
	Replace       bool   `help:"Replace complete files of another origin."`

	Concurrency int `default:"8" help:"Number of parts to copy in parallel."`

	HubFlags
	JobFlags
}

// Run adopts.
func (c *AdoptCmd) Run(ctx context.Context, log *slog.Logger) error {
	return c.do(ctx, "adopt", log, func(ctx context.Context, report progress.Func) (progress.Report, error) {
		m, to, err := c.adopt(ctx, fetch.Options{Concurrency: c.Concurrency, Progress: report, Log: log})
		if err == nil {
			log.Info("adopted", "from", c.From, "to", to.URL(), "kind", m.Kind, "files", len(m.Files), "bytes", m.Size())
		}
		return progress.Report{Shape: m.Shape}, err
	})
}

func (c *AdoptCmd) adopt(ctx context.Context, o fetch.Options) (m manifest.Manifest, to objectstore.Store, err error) {
	spec, err := c.model(ctx)
	if err != nil {
		return m, nil, err
	}
	ref, err := parseSource(c.From)
	if err != nil {
		return m, nil, err
	}
	from, err := openSource(ctx, ref)
	if err != nil {
		return m, nil, err
	}
	source, err := model.SourceOf(spec)
	if err != nil {
		return m, nil, fault.As(fault.Invalid, err)
	}
	hub, err := c.open(source, o.Log)
	if err != nil {
		return m, nil, err
	}
	converted, err := adopt.IsConverted(ctx, from)
	if err != nil {
		return m, nil, err
	}
	if !source.Pinned() {
		if source.Revision, err = hub.Resolve(ctx, source.Repo, cmp.Or(source.Revision, "main")); err != nil {
			return m, nil, err
		}
		if converted {
			return m, nil, fault.Errorf(fault.Invalid, "cannot adopt %s: converted files do not say of which commit they are: set revision of the Model to it, or to %s, the newest one, if they are of that", c.From, source.Revision)
		}
	}
	place, err := model.Locate(spec, source.Revision)
	if err != nil {
		return m, nil, fault.As(fault.Invalid, err)
	}
	target := place.Source
	if converted {
		target = place.Converted
	}
	if target == "" {
		return m, nil, fault.Errorf(fault.Invalid, "cannot adopt %s: it has converted files, and the Model's conversion.type is None", c.From)
	}
	if to, err = openStore(ctx, target); err != nil {
		return m, nil, err
	}
	cfg := adopt.Config{From: from, To: to, Ref: source, Name: c.ConvertedName, Replace: c.Replace, Options: o}
	if converted {
		m, err = adopt.Converted(ctx, cfg, place.Weights, hub)
		return m, to, err
	}
	if d := spec.Download; d != nil {
		cfg.Include, cfg.Exclude = d.Include, d.Exclude
	}
	m, err = adopt.Source(ctx, cfg, hub)
	return m, to, err
}

// model returns the only Model of the files, or the one that is named.
func (c *AdoptCmd) model(ctx context.Context) (v1.ModelSpec, error) {
	schemas, err := validation.Load()
	if err != nil {
		return v1.ModelSpec{}, err
	}
	all, err := claims.Read(ctx, schemas, c.Files)
	if err != nil {
		return v1.ModelSpec{}, err
	}
	var found []v1.ModelSpec
	for _, claim := range all {
		key := claim.Key()
		if key.Group() != local.CompositeGroup || c.Name != "" && key.Name != c.Name {
			continue
		}
		path := map[string][]string{v1.KindModel: {"spec"}, v1.KindDllama: {"spec", "model"}}[key.Kind]
		var spec v1.ModelSpec
		if path == nil {
			continue
		}
		if err := claim.Decode(&spec, path...); err != nil {
			return v1.ModelSpec{}, err
		}
		if spec.SourceURL != "" {
			found = append(found, spec)
		}
	}
	if len(found) != 1 {
		return v1.ModelSpec{}, fault.Errorf(fault.Invalid, "cannot choose a model of %q: %d have a sourceUrl; choose one with --name", c.Files, len(found))
	}
	return found[0], nil
}
