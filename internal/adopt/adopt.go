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

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/fetch"
	"github.com/gorizond/koldun/internal/formats/dllama"
	"github.com/gorizond/koldun/internal/manifest"
	"github.com/gorizond/koldun/internal/modelref"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/objectstore"
)

// A Config is what to adopt.
type Config struct {
	From, To objectstore.Store
	Ref      modelref.Ref // of the hub, pinned to a commit
	fetch.Options
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
// those of fetch.Run; Corrupt, if a file is not that of the commit.
func Source(ctx context.Context, cfg Config, hub fetch.Hub) (manifest.Manifest, error) {
	m, err := fetch.Run(ctx, fetch.Config{Hub: held{hub, cfg.From}, Ref: cfg.Ref, To: cfg.To, Options: cfg.Options})
	if err != nil {
		return manifest.Manifest{}, fmt.Errorf("cannot adopt %s: %w", cfg.From.URL(), err)
	}
	return m, nil
}

var modelFile = regexp.MustCompile(`^dllama_model_(.+)_(q40|q80|f16|f32)\.m$`)

// Converted adopts converted files, which must have the names that the converter of
// distributed-llama gives them. weights is the type that the Model wants. Errors:
// NotFound, if the folder does not have both; Invalid, if its weights are of another
// type; Corrupt, if the weights are incomplete; those of fetch.Copy.
func Converted(ctx context.Context, cfg Config, weights string) (manifest.Manifest, error) {
	m, err := converted(ctx, cfg, weights)
	if err != nil {
		return manifest.Manifest{}, fmt.Errorf("cannot adopt %s: %w", cfg.From.URL(), err)
	}
	return m, nil
}

func converted(ctx context.Context, cfg Config, weights string) (manifest.Manifest, error) {
	base, err := inspect(ctx, cfg.From, weights)
	if err != nil {
		return manifest.Manifest{}, err
	}
	source := cfg.Ref
	source.Revision = ""
	base.Origin = manifest.Origin{Source: source.String(), Commit: cfg.Ref.Revision}
	cfg.Include, cfg.Exclude = []string{names.ModelFile(base.Name, base.Weights), names.TokenizerFile(base.Name)}, nil
	return fetch.Copy(ctx, fetch.CopyConfig{From: cfg.From, To: cfg.To, As: &base, Options: cfg.Options})
}

// inspect returns the manifest of the converted files of a folder, without its
// origin and files.
func inspect(ctx context.Context, from objectstore.Store, weights string) (manifest.Manifest, error) {
	list, err := from.List(ctx, "")
	if err != nil {
		return manifest.Manifest{}, err
	}
	sizes := map[string]int64{}
	var found []manifest.Manifest
	for _, o := range list {
		sizes[o.Name] = o.Size
		if p := modelFile.FindStringSubmatch(o.Name); p != nil {
			found = append(found, manifest.Manifest{Kind: manifest.Converted, Name: p[1], Weights: p[2]})
		}
	}
	for _, m := range found {
		if m.Weights != weights {
			continue
		}
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
	h, err := dllama.ReadHeader(r)
	switch {
	case err != nil:
		return m, fmt.Errorf("file %q: %w", name, err)
	case string(h.Weights) != m.Weights:
		return m, fault.Errorf(fault.Corrupt, "file %q holds weights of type %s", name, h.Weights)
	case h.FileSize() != size:
		return m, fault.Errorf(fault.Corrupt, "file %q has %d bytes, and its header describes %d", name, size, h.FileSize())
	}
	shape := h.Shape()
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
