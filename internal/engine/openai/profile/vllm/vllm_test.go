package vllm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/vllm"
)

// TestStart holds the flags of the image's version.
func TestStart(t *testing.T) {
	one := []string{"/model", "--served-model-name=ns/m", "--host=127.0.0.1", "--port=9990", "--max-num-seqs=64", "--shutdown-timeout=30"}
	group := []string{"--tensor-parallel-size=2", "--pipeline-parallel-size=3", "--distributed-executor-backend=mp", "--nnodes=3"}
	for name, c := range map[string]struct {
		launch profile.Launch
		want   []string
	}{
		"One":     {profile.Launch{GPUs: 1}, nil},
		"Context": {profile.Launch{SeqLen: 8192}, []string{"--max-model-len=8192"}},
		"GPUs":    {profile.Launch{GPUs: 4}, []string{"--tensor-parallel-size=4"}},
		"Leader": {
			profile.Launch{GPUs: 2, Nodes: 3, Rank: "0", Leader: "root"},
			append(group[:4:4], "--node-rank=0", "--master-addr=$(VLLM_HOST_IP)", "--master-port=29501"),
		},
		"Worker": {
			profile.Launch{GPUs: 2, Nodes: 3, Rank: "$(RANK)", Leader: "root"},
			append(group[:4:4], "--node-rank=$(RANK)", "--master-addr=root", "--master-port=29501", "--headless"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.launch
			l.Model, l.ServedName, l.Port, l.Slots = "/model", "ns/m", "9990", 64
			got := vllm.Profile().Start(l)
			if d := cmp.Diff(append(one[:6:6], c.want...), got.Args); d != "" {
				t.Errorf("the arguments differ (-want +got):\n%s", d)
			}
			if grouped := got.Fields["VLLM_HOST_IP"] == "status.podIP"; grouped != (l.Nodes > 1) {
				t.Errorf("fields are %v", got.Fields)
			}
		})
	}
}

func TestSharedMemory(t *testing.T) {
	of := vllm.Profile().SharedMemory
	if of(0) != "" || of(1) != "" || of(2) != "8Gi" {
		t.Errorf("the sizes are %q, %q and %q", of(0), of(1), of(2))
	}
}
