package llamacpp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/llamacpp"
)

// TestStart holds the flags of the image's version.
func TestStart(t *testing.T) {
	for name, c := range map[string]struct {
		launch profile.Launch
		want   []string
	}{
		"File":     {profile.Launch{Model: "/model/m.gguf", Slots: 1}, []string{"--model", "/model/m.gguf", "--alias", "ns/m", "--host", "127.0.0.1", "--port", "9990", "--parallel", "1", "--metrics"}},
		"Download": {profile.Launch{Model: "org/repo:Q4_K_M", Downloads: true, Slots: 1}, []string{"--hf-repo", "org/repo:Q4_K_M", "--alias", "ns/m", "--host", "127.0.0.1", "--port", "9990", "--parallel", "1", "--metrics"}},
		"Slots": {
			profile.Launch{Model: "/model/m.gguf", Slots: 4, SeqLen: 2048, Threads: 8},
			[]string{"--model", "/model/m.gguf", "--alias", "ns/m", "--host", "127.0.0.1", "--port", "9990", "--parallel", "4", "--metrics", "--ctx-size", "8192", "--threads", "8"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.launch.ServedName, c.launch.Port = "ns/m", "9990"
			if d := cmp.Diff(c.want, llamacpp.Profile().Start(c.launch).Args); d != "" {
				t.Errorf("the arguments differ (-want +got):\n%s", d)
			}
		})
	}
}

func TestUnfit(t *testing.T) {
	unfit := llamacpp.Profile().Unfit
	if unfit(true, "org/repo") != "" || unfit(false, "/model/m.gguf") != "" || unfit(false, "/model") == "" {
		t.Error("only a folder is unfit")
	}
}
