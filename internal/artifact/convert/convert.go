// Package convert converts models in the format of Hugging Face (safetensors,
// config.json, tokenizer files) to the .m and .t files of distributed-llama, with
// the same bytes as its own converter. Beside the .t file it writes the rules of
// the tokenizer, which that format cannot hold, for the embedded engine.
//
// It reads ranges and writes parts, so that its memory does not grow with the
// model; it uses all cores; it continues where an earlier process stopped; and it
// writes a manifest last, so that a folder holds either a complete model or none.
package convert

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"runtime"
	"time"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
)

// Version is the version of the bytes that a conversion writes. It changes when
// the same input gives other bytes.
const Version = "koldun-convert/1"

// A Part is the model or its tokenizer.
type Part string

// The parts.
const (
	Both      Part = ""
	Model     Part = "model"
	Tokenizer Part = "tokenizer"
)

// Config describes one conversion. From, To, Name and Weights are required,
// Weights not for the tokenizer alone.
type Config struct {
	From, To objectstore.Store
	Name     string // in the file names
	Weights  topology.FloatType
	Only     Part
	Workers  int           // goroutines that compute; 0 is one per core
	Progress progress.Func // may be nil
	Log      *slog.Logger  // may be nil

	// PartSize is the size of uploaded parts in bytes. 0 chooses it.
	PartSize int64
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

func (c *Config) complete() error {
	if c.From == nil || c.To == nil {
		return fault.Errorf(fault.Invalid, "a source and a target are needed")
	}
	if !validName.MatchString(c.Name) {
		return fault.Errorf(fault.Invalid, "name %q goes into file names: want letters, digits, dots, dashes and underscores, at most 128", c.Name)
	}
	switch c.Only {
	case Both, Model, Tokenizer:
	default:
		return fault.Errorf(fault.Invalid, "only %q can be converted alone, not %q", []Part{Model, Tokenizer}, c.Only)
	}
	if c.Only == Tokenizer {
		c.Weights = "" // fits beside a model of any type
	} else if _, err := topology.ParseFloatType(string(c.Weights)); err != nil {
		return err
	}
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Run converts a model and returns the manifest that it wrote, or the existing one
// for the same input. It blocks until done. After an error there is no manifest
// that lists files of this call; another call continues, unless the error is
// final.
func Run(ctx context.Context, cfg Config) (manifest.Manifest, error) {
	if err := cfg.complete(); err != nil {
		return manifest.Manifest{}, fmt.Errorf("cannot convert model: %w", err)
	}
	r := newReporter(cfg.Progress)
	m, err := run(ctx, cfg, r)
	if err != nil {
		err = fmt.Errorf("cannot convert model %q from %s: %w", cfg.Name, cfg.From.URL(), err)
		r.failed(err)
		return manifest.Manifest{}, err
	}
	r.done(m.Size())
	return m, nil
}

func run(ctx context.Context, cfg Config, r *reporter) (manifest.Manifest, error) {
	src, err := openSource(ctx, cfg.From)
	if err != nil {
		return manifest.Manifest{}, err
	}
	dst, err := openTarget(ctx, cfg, src)
	if err != nil {
		return manifest.Manifest{}, err
	}
	if m, ok := dst.present(); ok {
		cfg.Log.Info("model is already converted", "name", cfg.Name, "target", cfg.To.URL())
		return m, nil
	}
	w, err := prepare(ctx, cfg, src)
	if err != nil {
		return manifest.Manifest{}, err
	}
	out := manifest.Manifest{
		Kind: manifest.Converted, Origin: src.origin, Name: cfg.Name, Weights: string(cfg.Weights), Converter: Version,
		Files: dst.kept(),
	}
	if cfg.Only == Tokenizer && len(out.Files) > 0 { // keeps the existing model
		out.Weights, out.Shape = dst.old.Weights, dst.old.Shape
	}
	if err := w.write(ctx, cfg, src, dst, r, &out); err != nil {
		return manifest.Manifest{}, err
	}
	out.Written = time.Now().UTC().Truncate(time.Second)
	return dst.seal(ctx, out)
}

// work is the output of a conversion.
type work struct {
	model     *plan  // nil: none
	tokenizer []byte // nil: none
	rules     []byte // of the tokenizer; nil: none
}

// prepare reads everything but the weights, so that bad input fails before anything
// is written.
func prepare(ctx context.Context, cfg Config, src *source) (work, error) {
	var w work
	var err error
	if cfg.Only != Tokenizer {
		if w.model, err = planModel(ctx, cfg, src); err != nil {
			return work{}, err
		}
	}
	if cfg.Only == Model {
		return w, nil
	}
	tok, rules, err := src.tokenizer(ctx, cfg.Log)
	if err != nil {
		return work{}, err
	}
	if w.model != nil && len(tok.Tokens) > w.model.header.VocabSize {
		return work{}, fault.Errorf(fault.Unsupported, "cannot convert tokenizer: it has %d tokens, the model %d", len(tok.Tokens), w.model.header.VocabSize)
	}
	if w.tokenizer, err = tok.Encode(); err != nil || rules == nil {
		return w, err
	}
	w.rules, err = rules.Encode()
	return w, err
}

// write writes the files and adds them to the manifest.
func (w work) write(ctx context.Context, cfg Config, src *source, dst *target, r *reporter, out *manifest.Manifest) error {
	r.expect(int64(len(w.tokenizer) + len(w.rules)))
	if w.model != nil {
		r.expect(w.model.size)
		f, err := writeModel(ctx, cfg, w.model, dst, src.digest, r)
		if err != nil {
			return err
		}
		shape := w.model.header.Shape()
		out.Shape = &shape
		out.Files = append(out.Files, f)
	}
	name := names.TokenizerFile(cfg.Name)
	for _, small := range []struct {
		name string
		body []byte
	}{{name, w.tokenizer}, {names.TokenizerRules(name), w.rules}} {
		if small.body == nil {
			continue
		}
		f, err := dst.put(ctx, small.name, small.body)
		if err != nil {
			return err
		}
		out.Files = append(out.Files, f)
	}
	return nil
}
