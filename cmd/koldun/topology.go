package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/bytesize"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/model/topology"
)

// TopologyCmd prints on how many nodes a model can run.
type TopologyCmd struct {
	Source  string `arg:"" help:"A .m file, a config.json, the folder or s3:// prefix of a model, or a repository: hf://ORG/REPO[@REVISION]."`
	Weights string `default:"q40" enum:"q40,f32" help:"Type of the weights of a source that is not converted: ${enum}."`
	SeqLen  int    `default:"4096" help:"Context length in tokens, at most that of the model; 0 is that of the model."`
	JSON    bool   `help:"Print JSON."`

	HubFlags
}

// maxConfig is far above any config.json, in bytes.
const maxConfig = 1 << 20

// Run prints.
func (c *TopologyCmd) Run(ctx context.Context) error {
	shape, err := c.shape(ctx)
	if err != nil {
		return fmt.Errorf("cannot plan %q: %w", c.Source, err)
	}
	seq := c.SeqLen
	if seq == 0 || seq > shape.SeqLen {
		seq = shape.SeqLen
	}
	sync, err := topology.SyncFor(shape.Weights)
	if err != nil {
		return fmt.Errorf("cannot plan %q: %w", c.Source, err)
	}
	var plans []topology.Plan
	for _, n := range shape.Nodes(sync) {
		p, err := shape.Preflight(topology.Request{Nodes: n, SeqLen: seq})
		if err != nil {
			return fmt.Errorf("cannot plan %q: %w", c.Source, err)
		}
		plans = append(plans, p)
	}
	if c.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"shape": shape, "plans": plans})
	}
	return printPlans(os.Stdout, shape, seq, plans)
}

func printPlans(w io.Writer, s topology.Shape, seq int, plans []topology.Plan) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d layers, %d heads, %d key-value heads, %s weights, context of %d of %d tokens\n\n",
		s.Arch, s.Layers, s.Heads, s.KVHeads, s.Weights, seq, s.SeqLen)
	t := tabwriter.NewWriter(&b, 0, 0, 3, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(t, "nodes\troot memory\tworker memory\ttraffic per token\tweights sent at start\t")
	for _, p := range plans {
		worker := "-"
		if p.Nodes > 1 {
			worker = bytesize.Format(p.Worker().Total())
		}
		_, _ = fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t\n", p.Nodes, bytesize.Format(p.Root().Total()), worker, bytesize.Format(p.Traffic.TotalPerToken), bytesize.Format(p.Traffic.Shipping))
	}
	_ = t.Flush() // a Builder takes everything
	_, err := io.WriteString(w, b.String())
	return err
}

// shape reads the shape of the model from any kind of source.
func (c *TopologyCmd) shape(ctx context.Context) (topology.Shape, error) {
	weights := topology.FloatType(c.Weights)
	switch {
	case strings.HasSuffix(c.Source, ".m"):
		f, err := os.Open(c.Source)
		if err != nil {
			return topology.Shape{}, fault.As(fault.NotFound, err)
		}
		defer func() { _ = f.Close() }()
		h, err := dllama.ReadHeader(f)
		if err != nil {
			return topology.Shape{}, err
		}
		return h.Shape(), nil
	case filepath.Base(c.Source) == "config.json":
		raw, err := os.ReadFile(c.Source)
		if err != nil {
			return topology.Shape{}, fault.As(fault.NotFound, err)
		}
		return topology.FromConfig(raw, weights)
	}
	ref, err := parseSource(c.Source)
	if err != nil {
		return topology.Shape{}, err
	}
	if ref.Scheme == modelref.Hub {
		return c.hubShape(ctx, ref, weights)
	}
	store, err := openSource(ctx, ref)
	if err != nil {
		return topology.Shape{}, err
	}
	return storedShape(ctx, store, weights)
}

// storedShape reads the manifest of a converted model, or the config.json of
// one that is not converted.
func storedShape(ctx context.Context, store objectstore.Store, weights topology.FloatType) (topology.Shape, error) {
	m, _, err := manifest.Load(ctx, store)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return topology.Shape{}, err
	}
	if m.Shape != nil {
		return *m.Shape, nil
	}
	r, err := store.Open(ctx, "config.json", 0, -1)
	if fault.Is(err, fault.NotFound) {
		return topology.Shape{}, fault.Errorf(fault.NotFound, "the folder has neither the manifest of a converted model nor a config.json")
	}
	if err != nil {
		return topology.Shape{}, err
	}
	defer func() { _ = r.Close() }()
	raw, err := io.ReadAll(io.LimitReader(r, maxConfig))
	if err != nil {
		return topology.Shape{}, err
	}
	return topology.FromConfig(raw, weights)
}

// hubShape reads the config.json of a repository and downloads nothing else.
func (c *TopologyCmd) hubShape(ctx context.Context, ref modelref.Ref, weights topology.FloatType) (topology.Shape, error) {
	h, err := c.open(ref, nil)
	if err != nil {
		return topology.Shape{}, err
	}
	commit, err := h.Resolve(ctx, ref.Repo, ref.Revision)
	if err != nil {
		return topology.Shape{}, err
	}
	raw, err := h.ReadFile(ctx, ref.Repo, commit, "config.json", maxConfig)
	if err != nil {
		return topology.Shape{}, err
	}
	return topology.FromConfig(raw, weights)
}
