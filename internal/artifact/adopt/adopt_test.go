package adopt_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/adopt"
	"github.com/gorizond/koldun/internal/artifact/convert/converttest"
	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/model/topology"
)

func tiny() converttest.Shape {
	return converttest.Shape{Arch: topology.Llama, Dim: 64, Hidden: 128, Layers: 1, Heads: 2, KVHeads: 2, HeadDim: 32, Vocab: 64, SeqLen: 128}
}

func config(t *testing.T, s converttest.Shape) []byte {
	t.Helper()
	raw, err := json.Marshal(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// weights returns a .m file of a shape, whose weights are zero.
func weights(t *testing.T, s converttest.Shape) []byte {
	t.Helper()
	c, err := topology.ParseConfig(config(t, s))
	if err != nil {
		t.Fatal(err)
	}
	h, err := dllama.FromConfig(c, topology.Q40)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return append(raw, make([]byte, h.FileSize()-int64(len(raw)))...)
}

func folder(t *testing.T, files map[string][]byte) objectstore.Store {
	t.Helper()
	path := t.TempDir()
	for name, raw := range files {
		if err := os.WriteFile(filepath.Join(path, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := dir.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConverted(t *testing.T) {
	deeper := tiny()
	deeper.Layers = 2
	h := hubtest.New(t, hubtest.Options{}, map[string][]byte{"config.json": config(t, tiny())})
	client, err := hub.New(hub.Config{Endpoint: h.URL})
	if err != nil {
		t.Fatal(err)
	}
	ref, err := modelref.Parse("hf://" + h.Repo + "@" + h.Commit())
	if err != nil {
		t.Fatal(err)
	}
	good, tokenizer := weights(t, tiny()), []byte("tokenizer")
	of := func(commit string) []byte {
		raw, err := manifest.Encode(manifest.Manifest{Kind: manifest.Converted, Origin: manifest.Origin{Source: "hf://" + h.Repo, Commit: commit}})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for name, c := range map[string]struct {
		files   map[string][]byte
		target  map[string][]byte
		name    string
		replace bool
		kind    fault.Kind
		says    string
	}{
		"Whole":            {files: map[string][]byte{"dllama_model_a_q40.m": good, "dllama_tokenizer_a.t": tokenizer}},
		"OtherShape":       {files: map[string][]byte{"dllama_model_a_q40.m": weights(t, deeper), "dllama_tokenizer_a.t": tokenizer}, kind: fault.Invalid, says: "Layers:2"},
		"Two":              {files: map[string][]byte{"dllama_model_a_q40.m": good, "dllama_model_b_q40.m": good, "dllama_tokenizer_a.t": tokenizer}, kind: fault.Invalid, says: "--converted-name"},
		"TwoOneChosen":     {files: map[string][]byte{"dllama_model_a_q40.m": good, "dllama_model_b_q40.m": good, "dllama_tokenizer_a.t": tokenizer}, name: "a"},
		"WithRules":        {files: map[string][]byte{"dllama_model_a_q40.m": good, "dllama_tokenizer_a.t": tokenizer, "dllama_tokenizer_a.rules.json": tokenizer}},
		"NoneOfTheName":    {files: map[string][]byte{"dllama_model_a_q40.m": good, "dllama_tokenizer_a.t": tokenizer}, name: "b", kind: fault.NotFound, says: "it has no file"},
		"NoTokenizer":      {files: map[string][]byte{"dllama_model_a_q40.m": good}, kind: fault.NotFound, says: "dllama_tokenizer_a.t"},
		"OtherType":        {files: map[string][]byte{"dllama_model_a_f32.m": good}, kind: fault.Invalid, says: "of type f32"},
		"CutOff":           {files: map[string][]byte{"dllama_model_a_q40.m": good[:len(good)-1], "dllama_tokenizer_a.t": tokenizer}, kind: fault.Corrupt, says: "its header describes"},
		"TargetOfOther":    {files: map[string][]byte{"dllama_model_a_q40.m": good, "dllama_tokenizer_a.t": tokenizer}, target: map[string][]byte{"keep": tokenizer, "koldun-manifest.json": of("1")}, kind: fault.Conflict, says: "--replace"},
		"TargetIsReplaced": {files: map[string][]byte{"dllama_model_a_q40.m": good, "dllama_tokenizer_a.t": tokenizer}, target: map[string][]byte{"koldun-manifest.json": of("1")}, replace: true},
	} {
		t.Run(name, func(t *testing.T) {
			to := folder(t, c.target)
			cfg := adopt.Config{From: folder(t, c.files), To: to, Ref: ref, Name: c.name, Replace: c.replace}
			_, err := adopt.Converted(t.Context(), cfg, "q40", client)
			if c.kind != "" {
				if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("the error is %v, want %s, %q", err, c.kind, c.says)
				}
				list, err := to.List(t.Context(), "")
				if err != nil || len(list) != len(c.target) {
					t.Errorf("the target has %v, want its old files: %v", list, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := 2
			if _, ok := c.files["dllama_tokenizer_a.rules.json"]; ok {
				want = 3
			}
			m, _, err := manifest.Load(t.Context(), to)
			if err != nil || m.Kind != manifest.Converted || m.Origin.Commit != h.Commit() || m.Shape == nil || len(m.Files) != want {
				t.Errorf("the manifest is %+v: %v", m, err)
			}
		})
	}
}
