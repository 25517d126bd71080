package deepspeedmii_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/deepspeedmii"
)

// TestStart holds the flags of the last release.
func TestStart(t *testing.T) {
	one := []string{"--model=org/repo", "--host=127.0.0.1", "--port=9990"}
	for name, c := range map[string]struct {
		launch profile.Launch
		want   []string
	}{
		"One":     {profile.Launch{GPUs: 1}, nil},
		"Context": {profile.Launch{SeqLen: 4096}, []string{"--max-length=4096"}},
		"GPUs":    {profile.Launch{GPUs: 2, SeqLen: 4096}, []string{"--max-length=4096", "--tensor-parallel=2"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.launch
			l.Model, l.ServedName, l.Port, l.Slots = "org/repo", "ns/m", "9990", 8
			got := deepspeedmii.Profile().Start(l)
			if d := cmp.Diff(append(one[:3:3], c.want...), got.Args); d != "" {
				t.Errorf("the arguments differ (-want +got):\n%s", d)
			}
		})
	}
}

func TestServedName(t *testing.T) {
	if got := deepspeedmii.Profile().ServedName(true, "org/repo", "ns/m"); got != "org/repo" {
		t.Errorf("the server knows its model as %q, want the value of --model", got)
	}
}
