package tgi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/tgi"
)

// TestStart holds the flags of the image's version.
func TestStart(t *testing.T) {
	one := []string{"--model-id=/model", "--hostname=127.0.0.1", "--port=9990", "--max-concurrent-requests=16"}
	for name, c := range map[string]struct {
		launch profile.Launch
		want   []string
	}{
		"One":  {profile.Launch{GPUs: 1}, nil},
		"GPUs": {profile.Launch{GPUs: 2, SeqLen: 4096}, []string{"--max-total-tokens=4096", "--num-shard=2"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.launch.Model, c.launch.Port, c.launch.Slots = "/model", "9990", 8
			if d := cmp.Diff(append(one[:4:4], c.want...), tgi.Profile().Start(c.launch).Args); d != "" {
				t.Errorf("the arguments differ (-want +got):\n%s", d)
			}
		})
	}
	p := tgi.Profile()
	for quantization, want := range map[string][]string{"": {"--dtype=float16"}, "awq": {"--quantize=awq"}, "bitsandbytes-nf4": {"--dtype=float16", "--quantize=bitsandbytes-nf4"}} {
		if d := cmp.Diff(want, p.Alone.Flags(profile.Model{DataType: "float16", Quantization: quantization})); d != "" {
			t.Errorf("TGI ends with a type of data beside a quantization (-want +got):\n%s", d)
		}
	}
	if p.ServedName(true, "org/repo", "ns/m") != "org/repo" || p.SharedMemory(0) != "1Gi" {
		t.Error("the server's name or its shared memory differs")
	}
}
