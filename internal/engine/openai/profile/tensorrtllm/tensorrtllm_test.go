package tensorrtllm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/tensorrtllm"
)

// TestStart holds the flags of the image's version.
func TestStart(t *testing.T) {
	one := []string{"/model", "--host=127.0.0.1", "--port=9990", "--served_model_name=ns/m", "--max_batch_size=64"}
	for name, c := range map[string]struct {
		launch profile.Launch
		want   []string
	}{
		"One":     {profile.Launch{GPUs: 1}, nil},
		"Context": {profile.Launch{SeqLen: 8192}, []string{"--max_seq_len=8192"}},
		"GPUs":    {profile.Launch{GPUs: 4, SeqLen: 2048}, []string{"--max_seq_len=2048", "--tp_size=4"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.launch
			l.Model, l.ServedName, l.Port, l.Slots = "/model", "ns/m", "9990", 64
			got := tensorrtllm.Profile().Start(l)
			if d := cmp.Diff(append(one[:5:5], c.want...), got.Args); d != "" {
				t.Errorf("the arguments differ (-want +got):\n%s", d)
			}
			if d := cmp.Diff([]string{"trtllm-serve"}, got.Command); d != "" {
				t.Errorf("the command differs (-want +got):\n%s", d)
			}
		})
	}
}

// TestAlone: its users reach it on port 8000, under the name that they gave.
func TestAlone(t *testing.T) {
	p := tensorrtllm.Profile()
	got, err := p.Deploy(profile.Deployment{Models: []profile.Model{{Name: "m", URI: "org/repo"}}, Host: "$(HOST)", Port: "$(PORT)", GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"org/repo", "--host=$(HOST)", "--port=$(PORT)", "--served_model_name=m", "--max_batch_size=32", "--tp_size=2"}, got.Args); d != "" {
		t.Errorf("the arguments differ (-want +got):\n%s", d)
	}
	if p.Alone.Port != 8000 || p.Alone.Ready != "/health" || p.SharedMemory(0) != "8Gi" {
		t.Errorf("it is alone as %+v", p.Alone)
	}
}
