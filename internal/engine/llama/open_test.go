package llama

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/convert"
	"github.com/gorizond/koldun/internal/engine/llama/kernel"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
)

func writeFile(tb testing.TB, data []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func readFile(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func TestOpenRefuses(t *testing.T) {
	good := tinyConfig(t, topology.Q40)
	model, tok := readFile(t, good.Model), readFile(t, good.Tokenizer)
	f32 := tinyConfig(t, topology.F32).Model
	qwen, _ := convertModel(t, "../../artifact/convert/testdata/in/qwen3_bf16_tied_headdim", topology.Q40, convert.Model)
	set := func(at int, v uint32) []byte {
		b := bytes.Clone(model)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	cases := map[string]struct {
		change func(*Config)
		kind   fault.Kind
		says   string
	}{
		"NoModel":          {func(c *Config) { c.Model = "" }, fault.Invalid, "no model file"},
		"NoTokenizer":      {func(c *Config) { c.Tokenizer = "" }, fault.Invalid, "no tokenizer file"},
		"NegativeThreads":  {func(c *Config) { c.Threads = -1 }, fault.Invalid, "threads is -1"},
		"ManyThreads":      {func(c *Config) { c.Threads = 100000 }, fault.Invalid, "threads is 100000"},
		"NegativeContext":  {func(c *Config) { c.MaxSeqLen = -1 }, fault.Invalid, "sequence is -1"},
		"Template":         {func(c *Config) { c.ChatTemplate = "x" }, fault.Invalid, `"x"`},
		"ModelMissing":     {func(c *Config) { c.Model += "x" }, fault.NotFound, "no such file"},
		"TokenizerMissing": {func(c *Config) { c.Tokenizer += "x" }, fault.NotFound, "no such file"},
		"ModelIsAFolder":   {func(c *Config) { c.Model = filepath.Dir(c.Model) }, fault.Invalid, "regular"},
		"ModelIsADevice":   {func(c *Config) { c.Model = os.DevNull }, fault.Invalid, "regular"},
		"ModelEmpty":       {func(c *Config) { c.Model = writeFile(t, nil) }, fault.Corrupt, "ends before"},
		"ModelText":        {func(c *Config) { c.Model = writeFile(t, []byte("version https://git-lfs")) }, fault.Corrupt, "magic"},
		"ModelIsTokenizer": {func(c *Config) { c.Model = c.Tokenizer }, fault.Corrupt, "magic"},
		"ModelTooShort":    {func(c *Config) { c.Model = writeFile(t, model[:len(model)-1]) }, fault.Corrupt, "(-1)"},
		"ModelTooLong":     {func(c *Config) { c.Model = writeFile(t, append(bytes.Clone(model), 0)) }, fault.Corrupt, "(+1)"},
		"ModelHeaderCut":   {func(c *Config) { c.Model = writeFile(t, model[:60]) }, fault.Corrupt, "ends before"},
		"ModelHeaderSize":  {func(c *Config) { c.Model = writeFile(t, set(4, math.MaxUint32)) }, fault.Corrupt, "header size"},
		"OldFormat":        {func(c *Config) { c.Model = writeFile(t, set(0, 0xABCD00)) }, fault.Unsupported, "old format"},
		"BuffersForQ40":    {func(c *Config) { c.BufferFloatType = topology.F32 }, fault.Unsupported, "weights of type q40 need buffers of type q80, not f32"},
		"BuffersForF32":    {func(c *Config) { c.Model, c.BufferFloatType = f32, topology.Q80 }, fault.Unsupported, "weights of type f32 need buffers of type f32, not q80"},
		"BuffersUnknown":   {func(c *Config) { c.BufferFloatType = "wide" }, fault.Invalid, `float type "wide"`},
		"WeightsQ80":       {func(c *Config) { c.Model = retyped(t, good.Model, topology.Q80) }, fault.Unsupported, "q80"},
		"WeightsF16":       {func(c *Config) { c.Model = retyped(t, good.Model, topology.F16) }, fault.Unsupported, "f16"},
		"GELU": {func(c *Config) {
			c.Model = withHeader(t, c.Model, func(h *dllama.Header) { h.Activation = dllama.GELU })
		}, fault.Unsupported, "gelu"},
		"RopeScaling": {func(c *Config) {
			c.Model = withHeader(t, c.Model, func(h *dllama.Header) {
				h.RopeScaling = &dllama.RopeScaling{Factor: 8, LowFreqFactor: 4, HighFreqFactor: 4, OriginalSeqLen: 64}
			})
		}, fault.Unsupported, "high frequency factor 4"},
		"OtherTokenizer":    {func(c *Config) { c.Model = qwen }, fault.Invalid, "it has 1024 tokens, the model 128"},
		"TokenizerCut":      {func(c *Config) { c.Tokenizer = writeFile(t, tok[:len(tok)-1]) }, fault.Corrupt, "ends at byte"},
		"TokenizerIsModel":  {func(c *Config) { c.Tokenizer = c.Model }, fault.Corrupt, "magic"},
		"RulesOfAnother":    {func(c *Config) { c.Tokenizer = withRules(t, tok, `{"version": 1, "tokens": 3, "model": "scores"}`) }, fault.Invalid, "they belong to another tokenizer"},
		"RulesCut":          {func(c *Config) { c.Tokenizer = withRules(t, tok, `{"version": 1, "tokens`) }, fault.Corrupt, "rules"},
		"CacheBeyondMemory": {func(c *Config) { c.Model = longModel(t) }, fault.Quota, "cannot allocate the cache of 1073741824 positions"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := good
			c.change(&cfg)
			e, err := Open(cfg)
			if err == nil {
				_ = e.Close()
				t.Fatal("it was opened")
			}
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("err = %v (%s), want %s with %q", err, fault.KindOf(err), c.kind, c.says)
			}
		})
	}
}

// withRules writes a tokenizer file with rules beside it.
func withRules(tb testing.TB, tokenizer []byte, rules string) string {
	tb.Helper()
	path := writeFile(tb, tokenizer)
	if err := os.WriteFile(names.TokenizerRules(path), []byte(rules), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// retyped returns the model with weights of another type, all 0.
func retyped(tb testing.TB, path string, weights topology.FloatType) string {
	tb.Helper()
	h, err := dllama.ReadHeader(bytes.NewReader(readFile(tb, path)))
	if err != nil {
		tb.Fatal(err)
	}
	h.Weights = weights
	return zeroModel(tb, h)
}

func expertModel(tb testing.TB) string {
	tb.Helper()
	return zeroModel(tb, dllama.Header{
		Arch: topology.Qwen3MoE, Activation: dllama.SiLU, Dim: 32, Layers: 1, Heads: 2, KVHeads: 1, Weights: topology.Q40,
		SeqLen: 64, VocabSize: 1024, Experts: 2, ActiveExperts: 1, MoEHidden: 32, HeadDim: 16,
	})
}

// longModel has a context whose cache exceeds any address space.
func longModel(tb testing.TB) string {
	tb.Helper()
	return zeroModel(tb, dllama.Header{
		Arch: topology.Llama, Activation: dllama.SiLU, Dim: 32, HiddenDim: 32, Layers: 64, Heads: 16, KVHeads: 16, HeadDim: 64,
		Weights: topology.Q40, SeqLen: 1 << 30, VocabSize: 1024,
	})
}

func zeroModel(tb testing.TB, h dllama.Header) string {
	tb.Helper()
	h.Size = 0
	head, err := h.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	return writeFile(tb, append(head, make([]byte, h.FileSize()-int64(len(head)))...))
}

func TestDamagedWeights(t *testing.T) {
	cfg := tinyConfig(t, topology.F32)
	model := readFile(t, cfg.Model)
	for i := len(model) / 2; i < len(model); i++ {
		model[i] = 0xff // NaN, as float32s
	}
	cfg.Model = writeFile(t, model)
	e := open(t, cfg)
	for _, temperature := range []float32{0, 1} {
		r := user("Hello")
		r.Sampling.Temperature = temperature
		if _, err := e.Generate(context.Background(), r, func(Piece) error { return nil }); !fault.Is(err, fault.Corrupt) {
			t.Errorf("temperature %g: err = %v, want Corrupt", temperature, err)
		}
	}
}

func TestInfo(t *testing.T) {
	cfg := tinyConfig(t, topology.Q40)
	cfg.MaxSeqLen = 100
	i := open(t, cfg).Info()
	if i.SeqLen != 100 || i.Threads != 2 || i.Vocabulary != 1024 || i.Template != Jinja || i.Shape.SeqLen != 512 || i.CacheBytes != 2*4*4*128*64 || i.Slots != 1 {
		t.Errorf("info is %+v", i)
	}
}

func TestNoChatTemplate(t *testing.T) {
	cfg := tinyConfig(t, topology.Q40)
	f, err := tokenizer.Read(bytes.NewReader(readFile(t, cfg.Tokenizer)))
	if err != nil {
		t.Fatal(err)
	}
	f.ChatTemplate = ""
	data, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Tokenizer = writeFile(t, data)
	e := open(t, cfg)
	if _, err := e.Generate(context.Background(), user("Hello"), nil); !fault.Is(err, fault.Unsupported) || !errors.Is(err, e.ChatError()) {
		t.Errorf("err = %v", err)
	}
	if text, _ := ask(t, e, Request{Prompt: "Hello", MaxTokens: 2}); text == "" {
		t.Error("there is no answer to a plain prompt")
	}
}

// FuzzModel opens models whose damaged headers match their size, and computes
// a few tokens with those that open.
func FuzzModel(f *testing.F) {
	for _, name := range []string{"llama_bf16_2shards", "qwen3_bf16_tied_headdim"} {
		path, _ := convertModel(f, "../../artifact/convert/testdata/in/"+name, topology.Q40, convert.Model)
		f.Add(readFile(f, path)[:120])
	}
	f.Add(readFile(f, expertModel(f))[:160])
	f.Add([]byte{0xcd, 0xab, 0, 0x0a, 8, 0, 0, 0})
	f.Fuzz(func(t *testing.T, head []byte) {
		data := head
		if h, err := dllama.ReadHeader(bytes.NewReader(head)); err == nil {
			if h.FileSize() > 1<<20 {
				return
			}
			data = make([]byte, h.FileSize())
			for i := range data {
				data[i] = byte(i * 37)
			}
			copy(data, head[:h.Size])
		}
		m, err := openModel(writeFile(t, data), "")
		if err != nil {
			if fault.Is(err, fault.Internal) {
				t.Fatalf("error without a kind: %v", err)
			}
			return
		}
		defer func() { _ = m.close() }()
		kv, err := newCache(m.shape, 8)
		if err != nil {
			t.Fatal(err)
		}
		r, err := newRunner(m, kernel.Sets()[0], kv, min(m.shape.SeqLen, 8), 1, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.close() }()
		s := &sequence{tokens: []int{0, m.shape.VocabSize - 1}[:min(2, m.shape.SeqLen)]}
		defer s.drop(r.cache)
		if err := s.reserve(r.cache, s.pending()); err != nil {
			t.Fatal(err)
		}
		if err := r.eval(goOn, []span{{seq: s, n: s.pending(), wantScores: true}}); err != nil {
			t.Fatal(err)
		}
	})
}
