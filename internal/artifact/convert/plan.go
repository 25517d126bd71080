package convert

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/formats/safetensors"
	"github.com/gorizond/koldun/internal/model/topology"
)

// A plan maps every byte of the model file to its source.
type plan struct {
	header  dllama.Header
	prefix  []byte   // the encoded header
	tensors []placed // in file order, without gaps
	size    int64    // of the file, bytes
}

// A placed tensor has a place in the model file and one in the source.
type placed struct {
	dllama.Tensor
	from  stored
	heads int // number of heads whose rows are reordered; 0: none
}

// maxHead bounds the rows of one head, which are reordered in memory.
const maxHead = 1 << 25

// planModel validates everything that it can before the first weight is read.
func planModel(ctx context.Context, cfg Config, src *source) (*plan, error) {
	raw, err := src.required(ctx, "config.json", maxConfig)
	if err != nil {
		return nil, err
	}
	config, err := topology.ParseConfig(raw)
	if err != nil {
		return nil, err
	}
	h, err := dllama.FromConfig(config, cfg.Weights)
	if err != nil {
		return nil, fmt.Errorf("cannot use config.json: %w", err)
	}
	prefix, err := h.Encode()
	if err != nil {
		return nil, err
	}
	w, err := src.openWeights(ctx)
	if err != nil {
		return nil, err
	}
	p := &plan{header: h, prefix: prefix, size: h.FileSize()}
	for _, t := range h.Tensors() {
		placed, err := place(t, h, w)
		if err != nil {
			return nil, err
		}
		p.tensors = append(p.tensors, placed)
	}
	for _, text := range config.Warnings {
		cfg.Log.Warn("model setting has no place in a .m file", "setting", text)
	}
	warnUnused(cfg.Log, p, w)
	return p, nil
}

// place finds the source of a tensor. Without a classifier of its own, the
// model shares the embedding's weights.
func place(t dllama.Tensor, h dllama.Header, w weights) (placed, error) {
	from, ok := w[t.Name]
	if !ok && t.Role == dllama.Classifier {
		from, ok = w["model.embed_tokens.weight"]
	}
	if !ok {
		return placed{}, fault.Errorf(fault.Invalid, "tensor %q is missing: none of the *.safetensors files has it", t.Name)
	}
	want := []int64{int64(t.Rows), int64(t.Cols)}
	switch t.Role {
	case dllama.InputNorm, dllama.FFNorm, dllama.FinalNorm, dllama.QueryNorm, dllama.KeyNorm:
		want = want[1:]
	}
	if !slices.Equal(from.Shape, want) {
		return placed{}, fault.Errorf(fault.Invalid, "tensor %q in file %q has shape %v, config.json implies %v", from.Name, from.file, from.Shape, want)
	}
	switch from.DType {
	case safetensors.F32, safetensors.F16, safetensors.BF16:
	default:
		return placed{}, fault.Errorf(fault.Unsupported, "tensor %q in file %q has dtype %s, want F32, F16 or BF16", from.Name, from.file, from.DType)
	}
	p := placed{Tensor: t, from: from}
	if h.Arch != topology.Llama {
		return p, nil
	}
	switch t.Role {
	case dllama.Query:
		p.heads = h.Heads
	case dllama.Key:
		p.heads = h.KVHeads
	}
	if n := p.headSize(); n > maxHead {
		return placed{}, fault.Errorf(fault.Unsupported, "one head of tensor %q has %d bytes, want at most %d", t.Name, n, maxHead)
	}
	return p, nil
}

// headSize returns the size of one head's rows in the source, 0 if rows keep their
// order.
func (p placed) headSize() int64 {
	if p.heads == 0 {
		return 0
	}
	return p.from.Size / int64(p.heads)
}

// warnUnused logs the weights that the model file has no place for.
func warnUnused(log *slog.Logger, p *plan, w weights) {
	used := map[string]bool{}
	for _, t := range p.tensors {
		used[t.from.Name] = true
	}
	var unused []string
	for name := range w {
		if !used[name] && !strings.HasSuffix(name, "rotary_emb.inv_freq") {
			unused = append(unused, name)
		}
	}
	if len(unused) == 0 {
		return
	}
	slices.Sort(unused)
	log.Warn("tensors have no place in a .m file and are left out", "count", len(unused), "first", unused[0])
}
