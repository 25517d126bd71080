package convert_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/convert"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	dirstore "github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
)

const tiny = "../../../examples/models/koldun-tiny"

func run(tb testing.TB, cfg convert.Config) manifest.Manifest {
	tb.Helper()
	m, err := convert.Run(context.Background(), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// checkFile wants a file of the store to be what the manifest lists.
func checkFile(tb testing.TB, s *memStore, m manifest.Manifest, name string) []byte {
	tb.Helper()
	body := s.get(name)
	f, ok := m.File(name)
	sum := sha256.Sum256(body)
	if !ok || f.Size != int64(len(body)) || f.SHA256 != hex.EncodeToString(sum[:]) {
		tb.Errorf("file %q has %d bytes with digest %x, the manifest lists %+v", name, len(body), sum, f)
	}
	return body
}

func TestOracles(t *testing.T) {
	cases := map[string]struct {
		in      string
		weights topology.FloatType
	}{
		"LlamaShardedQ40": {"llama_bf16_2shards", topology.Q40},
		"LlamaShardedF32": {"llama_bf16_2shards", topology.F32},
		"Qwen3TiedQ40":    {"qwen3_bf16_tied_headdim", topology.Q40},
		"Qwen3TiedF32":    {"qwen3_bf16_tied_headdim", topology.F32},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := names.ModelFile(c.in, string(c.weights))
			want, err := os.ReadFile("testdata/out/" + out)
			if err != nil {
				t.Fatal(err)
			}
			// Small parts of an odd size cut through blocks, rows and heads.
			for _, part := range []int64{0, 1000, 1 << 20, 77, 4097} {
				to := newMemStore()
				m := run(t, convert.Config{From: loadStore(t, "testdata/in/"+c.in), To: to, Name: c.in, Weights: c.weights, Only: convert.Model, PartSize: part})
				if !bytes.Equal(checkFile(t, to, m, out), want) {
					t.Fatalf("with parts of %d bytes the file differs from the oracle", part)
				}
			}
		})
	}
}

func TestTokenizerOracles(t *testing.T) {
	for _, set := range []string{"llama2_spm", "llama3_fast"} {
		t.Run(set, func(t *testing.T) {
			want, err := os.ReadFile("testdata/out/" + names.TokenizerFile(set))
			if err != nil {
				t.Fatal(err)
			}
			to := newMemStore()
			m := run(t, convert.Config{From: loadStore(t, "testdata/tok_in/"+set), To: to, Name: set, Only: convert.Tokenizer})
			if !bytes.Equal(checkFile(t, to, m, names.TokenizerFile(set)), want) {
				t.Error("the file differs from the oracle")
			}
		})
	}
}

func TestTinyIntoFolder(t *testing.T) {
	from, err := dirstore.Open(tiny)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	to, err := dirstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var last progress.Report
	cfg := convert.Config{From: from, To: to, Name: "koldun-tiny", Weights: topology.Q40, Progress: func(r progress.Report) {
		if r.Bytes < last.Bytes {
			t.Errorf("progress goes back from %+v to %+v", last, r)
		}
		last = r
	}}
	m := run(t, cfg)
	model, _ := m.File("dllama_model_koldun-tiny_q40.m")
	tok, _ := m.File("dllama_tokenizer_koldun-tiny.t")
	if model.Size != 1045128 || tok.Size != 13372 {
		t.Errorf("sizes are %d and %d, want 1045128 and 13372", model.Size, tok.Size)
	}
	rules, ok := m.File("dllama_tokenizer_koldun-tiny.rules.json")
	if !ok {
		t.Error("the manifest lists no rules of the tokenizer")
	}
	if last.Phase != progress.Done || last.Bytes != model.Size+tok.Size+rules.Size || last.Total != last.Bytes {
		t.Errorf("last report is %+v", last)
	}
	raw, err := os.ReadFile(dir + "/" + model.Path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := dllama.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Header.Shape(); got != *m.Shape {
		t.Errorf("manifest has shape %+v, the file %+v", *m.Shape, got)
	}
	again := run(t, cfg)
	if !again.Written.Equal(m.Written) || again.Files[0].SHA256 != m.Files[0].SHA256 {
		t.Error("a second run did not return the manifest that is there")
	}
}

func TestModelAndTokenizerApart(t *testing.T) {
	from, to := loadStore(t, tiny), newMemStore()
	cfg := convert.Config{From: from, To: to, Name: "tiny", Weights: topology.Q40}
	cfg.Only = convert.Model
	run(t, cfg)
	cfg.Only, cfg.Weights = convert.Tokenizer, ""
	m := run(t, cfg)
	if len(m.Files) != 3 || m.Weights != "q40" || m.Shape == nil {
		t.Errorf("manifest is %+v, want both files and the model's shape", m)
	}
	checkFile(t, to, m, names.ModelFile("tiny", "q40"))
	writes := to.count("write")
	cfg.Only, cfg.Weights = convert.Both, topology.Q40
	if got := run(t, cfg); len(got.Files) != 3 || to.count("write") != writes {
		t.Error("what was there was written again")
	}
}

func TestTokenizerThenModel(t *testing.T) {
	from, to := loadStore(t, tiny), newMemStore()
	cfg := convert.Config{From: from, To: to, Name: "tiny", Weights: topology.F32, Only: convert.Tokenizer}
	if m := run(t, cfg); len(m.Files) != 2 || m.Weights != "" || m.Shape != nil {
		t.Errorf("manifest is %+v, want only the tokenizer", m)
	}
	cfg.Only, cfg.Weights = convert.Model, topology.Q40
	if m := run(t, cfg); len(m.Files) != 3 || m.Weights != "q40" || m.Shape == nil || m.Shape.Weights != topology.Q40 {
		t.Errorf("manifest is %+v, want both files and the model's shape", m)
	}
}

func TestIntoTheSameFolder(t *testing.T) {
	both := loadStore(t, tiny)
	cfg := convert.Config{From: both, To: both, Name: "tiny", Weights: topology.Q40}
	m := run(t, cfg)
	checkFile(t, both, m, names.ModelFile("tiny", "q40"))
	writes := both.count("write")
	again := run(t, cfg)
	if both.count("write") != writes || !again.Origin.Equal(m.Origin) {
		t.Error("the second run did not find the first one's files")
	}
}

func TestOtherInputReplaces(t *testing.T) {
	from, to := loadStore(t, "testdata/in/llama_bf16_2shards"), newMemStore()
	cfg := convert.Config{From: from, To: to, Name: "m", Weights: topology.Q40, Only: convert.Model}
	first := run(t, cfg)
	cfg.From = loadStore(t, "testdata/in/qwen3_bf16_tied_headdim")
	second := run(t, cfg)
	if first.Files[0].SHA256 == second.Files[0].SHA256 {
		t.Error("the model of another input was kept")
	}
	checkFile(t, to, second, second.Files[0].Path)

	// A file that is not as listed any more is written again.
	to.set(second.Files[0].Path, []byte("short"))
	checkFile(t, to, run(t, cfg), second.Files[0].Path)
}

// A folder is one model of one type. Another type beside it takes the manifest,
// and a warning says so.
func TestOtherTypeReplaces(t *testing.T) {
	from, to := loadStore(t, tiny), newMemStore()
	var logged bytes.Buffer
	cfg := convert.Config{From: from, To: to, Name: "tiny", Weights: topology.Q40, Log: slog.New(slog.NewTextHandler(&logged, nil))}
	run(t, cfg)
	if logged.Len() > 0 {
		t.Errorf("the first conversion says %s", logged.String())
	}
	cfg.Weights = topology.F32
	if m := run(t, cfg); len(m.Files) != 3 || m.Weights != "f32" {
		t.Errorf("manifest is %+v, want the f32 model and the tokenizer", m)
	}
	if !strings.Contains(logged.String(), "choose another folder to keep both") || !strings.Contains(logged.String(), "weights=q40") {
		t.Errorf("the log does not say that the q40 model is not listed any more: %s", logged.String())
	}
}

func TestSourceManifest(t *testing.T) {
	from, to := loadStore(t, "testdata/in/llama_bf16_2shards"), newMemStore()
	m := manifest.Manifest{Kind: manifest.Source, Origin: manifest.Origin{Source: "hf://org/repo", Commit: "0123456789012345678901234567890123456789"}}
	for _, name := range from.names() {
		sum := sha256.Sum256(from.get(name))
		m.Files = append(m.Files, manifest.File{Path: name, Size: int64(len(from.get(name))), SHA256: hex.EncodeToString(sum[:])})
	}
	raw, err := manifest.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	from.set(names.Manifest, raw)
	cfg := convert.Config{From: from, To: to, Name: "m", Weights: topology.Q40, Only: convert.Model}
	got := run(t, cfg)
	sum := sha256.Sum256(raw)
	want := m.Origin
	want.Digest = hex.EncodeToString(sum[:])
	if !got.Origin.Equal(want) {
		t.Errorf("origin is %+v, want %+v", got.Origin, want)
	}

	from.set("config.json", append(from.get("config.json"), ' '))
	cfg.To = newMemStore()
	if _, err := convert.Run(context.Background(), cfg); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a source that is not as listed gave %v", err)
	}

	cfg.To = from
	from.set("config.json", bytes.TrimSuffix(from.get("config.json"), []byte(" ")))
	if _, err := convert.Run(context.Background(), cfg); !fault.Is(err, fault.Invalid) {
		t.Errorf("converting into the source gave %v", err)
	}
}
