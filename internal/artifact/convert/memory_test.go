package convert_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/metrics"
	"sync/atomic"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/convert"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/model/topology"
)

// memoryEnv makes a process of this test binary measure its own memory.
const memoryEnv = "KOLDUN_CONVERT_TEST_MEMORY"

// TestMemory converts a model of 300 MB with as many workers as a large machine
// has. The source generates the weights while they are read, and the target
// discards them. A separate process converts, so that the memory of other tests
// does not count.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 300 MB; run it without -short")
	}
	const limit = 256 << 20
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), memoryEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var peak, size int64
	if _, err := fmt.Sscan(string(out), &peak, &size); err != nil {
		t.Fatalf("cannot read %q: %v", out, err)
	}
	t.Logf("%d MiB of memory for %d MiB of weights", peak>>20, size>>20)
	if peak == 0 || peak > limit {
		t.Errorf("the process took %d MiB, want at most %d", peak>>20, limit>>20)
	}
}

// measureMemory converts, and prints the peak memory of the process and the size
// of the weights.
func measureMemory() error {
	from, err := newEndless()
	if err != nil {
		return err
	}
	to := &sink{memStore: newMemStore()}
	cfg := convert.Config{From: from, To: to, Name: "m", Weights: topology.Q40, Only: convert.Model, Workers: 32}
	if _, err := convert.Run(context.Background(), cfg); err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, to.peak.Load(), from.size)
	return err
}

// inUse returns the memory that the process holds, in bytes.
func inUse() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

// An endless store has one large safetensors file that holds the same value
// everywhere.
type endless struct {
	*memStore
	prefix []byte // length and header of the file
	size   int64
}

const endlessFile = "model.safetensors"

func newEndless() (*endless, error) {
	const dim, hidden, heads, kv, vocab = 6144, 2048, 48, 8, 2048
	config, err := json.Marshal(map[string]any{
		"model_type": "llama", "hidden_act": "silu", "hidden_size": dim, "intermediate_size": hidden, "num_hidden_layers": 1,
		"num_attention_heads": heads, "num_key_value_heads": kv, "vocab_size": vocab, "max_position_embeddings": 8192, "rms_norm_eps": 1e-5,
	})
	if err != nil {
		return nil, err
	}
	header := map[string]any{}
	var offset int64
	add := func(name string, shape ...int64) {
		n := int64(2)
		for _, d := range shape {
			n *= d
		}
		header[name] = map[string]any{"dtype": "BF16", "shape": shape, "data_offsets": []int64{offset, offset + n}}
		offset += n
	}
	add("model.embed_tokens.weight", vocab, dim)
	add("lm_head.weight", vocab, dim)
	add("model.norm.weight", dim)
	for name, shape := range map[string][]int64{
		"self_attn.q_proj": {dim, dim}, "self_attn.k_proj": {kv * dim / heads, dim}, "self_attn.v_proj": {kv * dim / heads, dim}, "self_attn.o_proj": {dim, dim},
		"mlp.gate_proj": {hidden, dim}, "mlp.up_proj": {hidden, dim}, "mlp.down_proj": {dim, hidden},
	} {
		add(fmt.Sprintf("model.layers.0.%s.weight", name), shape...)
	}
	add("model.layers.0.input_layernorm.weight", dim)
	add("model.layers.0.post_attention_layernorm.weight", dim)
	raw, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	e := &endless{memStore: newMemStore()}
	e.prefix = append([]byte{byte(len(raw)), byte(len(raw) >> 8), 0, 0, 0, 0, 0, 0}, raw...)
	e.size = int64(len(e.prefix)) + offset
	e.set("config.json", config)
	return e, nil
}

func (e *endless) List(ctx context.Context, prefix string) ([]objectstore.Object, error) {
	list, err := e.memStore.List(ctx, prefix)
	return append(list, objectstore.Object{Name: endlessFile, Size: e.size}), err
}

func (e *endless) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	if name != endlessFile {
		return e.memStore.Open(ctx, name, offset, length)
	}
	head := e.prefix[min(offset, int64(len(e.prefix))):]
	return io.NopCloser(io.LimitReader(io.MultiReader(bytes.NewReader(head), same{}), length)), nil
}

// same reads the same byte forever; two of them are a small bfloat16.
type same struct{}

func (same) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0x3c
	}
	return len(p), nil
}

// A sink discards uploads, and measures the memory during them.
type sink struct {
	*memStore
	peak atomic.Uint64
}

func (s *sink) Upload(_ context.Context, name string, o objectstore.UploadOptions) (objectstore.Upload, error) {
	return &sinkUpload{memUpload: memUpload{store: s.memStore, name: name, o: o}, sink: s}, nil
}

type sinkUpload struct {
	memUpload
	sink *sink
}

func (u *sinkUpload) WritePart(context.Context, int, []byte) error {
	now := inUse()
	for {
		peak := u.sink.peak.Load()
		if now <= peak || u.sink.peak.CompareAndSwap(peak, now) {
			return nil
		}
	}
}

func (u *sinkUpload) Complete(context.Context) (objectstore.Object, error) {
	return objectstore.Object{Name: u.name, Size: u.o.Size}, nil
}
