// Package adopt takes over the files of a model that another system has downloaded
// or converted, instead of downloading and converting them again.
//
// It copies them to the folder where Koldun looks for them and writes the manifest
// last, so that the folder is complete for Koldun as if its own Jobs had filled it.
package adopt

import (
	"context"
	"fmt"
	"io"
	"path"
	"regexp"

	"github.com/gorizond/koldun/internal/artifact/fetch"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
)

// A Config is what to adopt.
type Config struct {
	From, To objectstore.Store
	Ref      modelref.Ref // of the hub, pinned to a commit
	// Name is that in the names of converted files. Empty: there is only one.
	Name string
	// Replace allows to replace complete files of another origin.
	Replace bool
	fetch.Options
}

// A Hub lists the files of a repository and reads small ones.
type Hub interface {
	fetch.Hub
	ReadFile(ctx context.Context, repo, commit, path string, limit int64) ([]byte, error)
}

// held is a hub whose files are in a folder.
type held struct {
	fetch.Hub
	from objectstore.Store
}

// Open reads a file of the folder.
func (h held) Open(ctx context.Context, _, _, path string, offset, length int64) (io.ReadCloser, error) {
	return h.from.Open(ctx, path, offset, length)
}

// Source adopts the source files of a repository. The hub lists the files of the
// commit with their digests, and each file of the folder must have them. Errors:
// those of fetch.Run; Corrupt, if a file is not that of the commit; Conflict, if the
// target is complete with another origin.
func Source(ctx context.Context, cfg Config, hub fetch.Hub) (manifest.Manifest, error) {
	origin := manifest.Origin{Source: sourceOf(cfg.Ref), Commit: cfg.Ref.Revision}
	if err := spare(ctx, cfg, manifest.Source, origin); err != nil {
		return manifest.Manifest{}, err
	}
	m, err := fetch.Run(ctx, fetch.Config{Hub: held{hub, cfg.From}, Ref: cfg.Ref, To: cfg.To, Options: cfg.Options})
	if err != nil {
		return manifest.Manifest{}, fmt.Errorf("cannot adopt %s: %w", cfg.From.URL(), err)
	}
	return m, nil
}

var modelFile = regexp.MustCompile(`^dllama_model_(.+)_(q40|q80|f16|f32)\.m$`)

// Converted adopts converted files, which must have the names that the converter of
// distributed-llama gives them. weights is the type that the Model wants. The shape in
// the header of the weights must be that of the commit's config.json. Errors: NotFound,
// if the folder does not have both files; Invalid, if its weights are of another type
// or model, or there are several; Corrupt, if the weights are incomplete; Conflict, if
// the target is complete with another origin; those of fetch.Copy.
func Converted(ctx context.Context, cfg Config, weights string, hub Hub) (manifest.Manifest, error) {
	m, err := converted(ctx, cfg, weights, hub)
	if err != nil {
		return manifest.Manifest{}, fmt.Errorf("cannot adopt %s: %w", cfg.From.URL(), err)
	}
	return m, nil
}

func converted(ctx context.Context, cfg Config, weights string, hub Hub) (manifest.Manifest, error) {
	base, err := inspect(ctx, cfg.From, cfg.Name, weights)
	if err != nil {
		return manifest.Manifest{}, err
	}
	if err := compare(ctx, hub, cfg.Ref, *base.Shape); err != nil {
		return manifest.Manifest{}, err
	}
	base.Origin = manifest.Origin{Source: sourceOf(cfg.Ref), Commit: cfg.Ref.Revision}
	if err := spare(ctx, cfg, base.Kind, base.Origin); err != nil {
		return manifest.Manifest{}, err
	}
	tokenizer := names.TokenizerFile(base.Name)
	cfg.Include, cfg.Exclude = []string{names.ModelFile(base.Name, base.Weights), tokenizer, names.TokenizerRules(tokenizer)}, nil
	return fetch.Copy(ctx, fetch.CopyConfig{From: cfg.From, To: cfg.To, As: &base, Options: cfg.Options})
}

// sourceOf returns a source in the form of manifests, without the revision.
func sourceOf(ref modelref.Ref) string {
	ref.Revision = ""
	return ref.String()
}

// spare refuses a target that is complete with another origin: the copy would remove
// its files first.
func spare(ctx context.Context, cfg Config, kind manifest.Kind, origin manifest.Origin) error {
	old, _, err := manifest.Load(ctx, cfg.To)
	switch {
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Corrupt):
		return nil
	case err != nil:
		return err
	case cfg.Replace, old.Kind == kind && old.Origin.Source == origin.Source && old.Origin.Commit == origin.Commit:
		return nil
	}
	return fault.Errorf(fault.Conflict, "cannot adopt into %s: it is complete with files of %s %s; --replace replaces them", cfg.To.URL(), old.Origin.Source, old.Origin.Commit)
}

// maxConfig is far above any config.json, in bytes.
const maxConfig = 1 << 20

// compare holds the shape of converted weights against that of the commit. The files
// themselves do not say what they were made of.
func compare(ctx context.Context, hub Hub, ref modelref.Ref, got topology.Shape) error {
	raw, err := hub.ReadFile(ctx, ref.Repo, ref.Revision, "config.json", maxConfig)
	if err != nil {
		return err
	}
	want, err := topology.FromConfig(raw, got.Weights)
	if err != nil {
		return err
	}
	if got != want {
		return fault.Errorf(fault.Invalid, "its weights are not those of %s: their header says %+v, and config.json %+v", ref, got, want)
	}
	return nil
}

// inspect returns the manifest of the converted files of a folder, without its
// origin and files.
func inspect(ctx context.Context, from objectstore.Store, name, weights string) (manifest.Manifest, error) {
	list, err := from.List(ctx, "")
	if err != nil {
		return manifest.Manifest{}, err
	}
	sizes := map[string]int64{}
	var found, fit []manifest.Manifest
	for _, o := range list {
		sizes[o.Name] = o.Size
		p := modelFile.FindStringSubmatch(o.Name)
		if p == nil || name != "" && p[1] != name {
			continue
		}
		m := manifest.Manifest{Kind: manifest.Converted, Name: p[1], Weights: p[2]}
		found = append(found, m)
		if m.Weights == weights {
			fit = append(fit, m)
		}
	}
	if len(fit) > 1 {
		return fit[0], fault.Errorf(fault.Invalid, "it has weights of %q, %q and more: choose one with --converted-name", fit[0].Name, fit[1].Name)
	}
	if len(fit) == 1 {
		m := fit[0]
		if _, ok := sizes[names.TokenizerFile(m.Name)]; !ok {
			return m, fault.Errorf(fault.NotFound, "it has %q and not %q", names.ModelFile(m.Name, weights), names.TokenizerFile(m.Name))
		}
		return withShape(ctx, from, m, sizes[names.ModelFile(m.Name, weights)])
	}
	if len(found) > 0 {
		return found[0], fault.Errorf(fault.Invalid, "its weights are of type %s, and the Model wants %s: set conversion.weightsFloatType", found[0].Weights, weights)
	}
	return manifest.Manifest{}, fault.Errorf(fault.NotFound, "it has no file dllama_model_NAME_%s.m: rename the weights to it, and the tokenizer to dllama_tokenizer_NAME.t", weights)
}

// withShape adds what the header of the weights says, and checks that they are all
// there.
func withShape(ctx context.Context, from objectstore.Store, m manifest.Manifest, size int64) (manifest.Manifest, error) {
	name := names.ModelFile(m.Name, m.Weights)
	r, err := from.Open(ctx, name, 0, -1)
	if err != nil {
		return m, err
	}
	defer func() { _ = r.Close() }()
	shape, err := dllama.ReadShape(r, size)
	if err != nil {
		return m, fmt.Errorf("file %q: %w", name, err)
	}
	if string(shape.Weights) != m.Weights {
		return m, fault.Errorf(fault.Corrupt, "file %q holds weights of type %s", name, shape.Weights)
	}
	m.Shape = &shape
	return m, nil
}

// IsConverted reports whether a folder has converted weights, of any type.
func IsConverted(ctx context.Context, from objectstore.Store) (bool, error) {
	list, err := from.List(ctx, "")
	if err != nil {
		return false, err
	}
	for _, o := range list {
		if path.Ext(o.Name) == ".m" {
			return true, nil
		}
	}
	return false, nil
}
