package localai_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/localai"
)

// TestStart holds the flags of the image's version.
func TestStart(t *testing.T) {
	rest := []string{"--address=127.0.0.1:9990", "--backends-path=$(KOLDUN_DIR_CACHE)/backends", "--enable-watchdog-idle=false", "--enable-watchdog-busy=false"}
	for name, c := range map[string]struct {
		launch profile.Launch
		want   []string
	}{
		"File":     {profile.Launch{Model: "/model/m.gguf"}, append([]string{"--models-path=/model"}, rest...)},
		"Download": {profile.Launch{Model: "qwen3-0.6b", Downloads: true}, append([]string{"qwen3-0.6b", "--models-path=$(KOLDUN_DIR_CACHE)/models"}, rest...)},
		"Sizes": {
			profile.Launch{Model: "/model/m.gguf", SeqLen: 2048, Threads: 8},
			append(append([]string{"--models-path=/model"}, rest...), "--context-size=2048", "--threads=8"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.launch.Port = "9990"
			if d := cmp.Diff(c.want, localai.Profile().Start(c.launch).Args); d != "" {
				t.Errorf("the arguments differ (-want +got):\n%s", d)
			}
		})
	}
	p := localai.Profile()
	if got := p.ServedName(false, "/model/q4/m.gguf", "ns/m"); got != "m.gguf" {
		t.Errorf("the served name is %q", got)
	}
	if p.Unfit(true, "a") != "" || p.Unfit(false, "/model/m.gguf") != "" || p.Unfit(false, "/model") == "" {
		t.Error("only a folder is unfit")
	}
}
