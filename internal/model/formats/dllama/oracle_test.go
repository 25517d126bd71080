package dllama_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/topology"
)

const oracles = "../../../artifact/convert/testdata/out/"

func TestReadOracles(t *testing.T) {
	cases := map[string]struct {
		file string
		want topology.Shape
	}{
		"LlamaF32": {"dllama_model_llama_bf16_2shards_f32.m", topology.Shape{
			Arch: topology.Llama, Dim: 64, HiddenDim: 96, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 16, VocabSize: 128, SeqLen: 256, Weights: topology.F32}},
		"LlamaQ40": {"dllama_model_llama_bf16_2shards_q40.m", topology.Shape{
			Arch: topology.Llama, Dim: 64, HiddenDim: 96, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 16, VocabSize: 128, SeqLen: 256, Weights: topology.Q40}},
		"Qwen3Q40": {"dllama_model_qwen3_bf16_tied_headdim_q40.m", topology.Shape{
			Arch: topology.Qwen3, Dim: 64, HiddenDim: 96, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 32, VocabSize: 128, SeqLen: 256, Weights: topology.Q40}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(oracles + c.file)
			if err != nil {
				t.Fatal(err)
			}
			f, err := dllama.Open(bytes.NewReader(raw), int64(len(raw)))
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Header.Shape(); got != c.want {
				t.Errorf("shape is %+v, want %+v", got, c.want)
			}
			encoded, err := f.Header.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(encoded, raw[:f.Header.Size]) {
				t.Error("the header does not encode to the bytes it was read from")
			}
			last := f.Tensors[len(f.Tensors)-1]
			if last.Role != dllama.Classifier || last.End() != int64(len(raw)) {
				t.Errorf("last tensor %q ends at %d, want the classifier to end at %d", last.Name, last.End(), len(raw))
			}
			for i, x := range f.Tensors[1:] {
				if x.Offset != f.Tensors[i].End() {
					t.Errorf("tensor %q begins at %d, want %d", x.Name, x.Offset, f.Tensors[i].End())
				}
			}
		})
	}
}
