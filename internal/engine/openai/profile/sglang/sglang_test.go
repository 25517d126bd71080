package sglang_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/sglang"
)

// TestStart holds the flags of the image's version.
func TestStart(t *testing.T) {
	one := []string{"--model-path=/model", "--served-model-name=ns/m", "--host=127.0.0.1", "--port=9990", "--max-running-requests=64", "--enable-metrics"}
	for name, c := range map[string]struct {
		launch profile.Launch
		want   []string
	}{
		"One":     {profile.Launch{GPUs: 1, Nodes: 1}, nil},
		"Context": {profile.Launch{SeqLen: 8192}, []string{"--context-length=8192"}},
		"GPUs":    {profile.Launch{GPUs: 4, Nodes: 1}, []string{"--tp-size=4"}},
		"Worker": {
			profile.Launch{GPUs: 4, Nodes: 2, Rank: "$(RANK)", Leader: "root"},
			[]string{"--tp-size=8", "--nnodes=2", "--node-rank=$(RANK)", "--dist-init-addr=root:20000"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.launch
			l.Model, l.ServedName, l.Port, l.Slots = "/model", "ns/m", "9990", 64
			got := sglang.Profile().Start(l)
			if d := cmp.Diff(append(one[:6:6], c.want...), got.Args); d != "" {
				t.Errorf("the arguments differ (-want +got):\n%s", d)
			}
		})
	}
	if of := sglang.Profile().SharedMemory; of(1) != "" || of(2) != "16Gi" {
		t.Errorf("the sizes of shared memory are %q and %q", of(1), of(2))
	}
}
