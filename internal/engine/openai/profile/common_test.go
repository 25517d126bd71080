package profile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/openai"
)

func TestOffers(t *testing.T) {
	got := [][]string{
		profile.Operations(), profile.Operations(openai.OperationEmbedding),
		profile.Sampling(), profile.Sampling(openai.HintLogitBias),
		profile.Features(openai.FeatureTools, openai.FeatureJSONSchema),
	}
	want := [][]string{
		{"chat", "completion"}, {"chat", "completion", "embedding"},
		{"temperature", "top_p", "seed", "frequency_penalty", "presence_penalty"},
		{"temperature", "top_p", "seed", "frequency_penalty", "presence_penalty", "logit_bias"},
		{"tools", "json_schema"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the offers differ (-want +got):\n%s", d)
	}
}

func TestSharedByGPUs(t *testing.T) {
	of := profile.SharedByGPUs("8Gi")
	for gpus, want := range map[int64]string{0: "", 1: "", 2: "8Gi"} {
		if got := of(gpus); got != want {
			t.Errorf("%d GPUs share %q, want %q", gpus, got, want)
		}
	}
}

func TestNeedsGGUF(t *testing.T) {
	unfit := profile.NeedsGGUF("a server loads a .gguf file")
	for _, c := range []struct {
		downloads bool
		model     string
		fits      bool
	}{
		{false, "/model/m.gguf", true},
		{false, "/model", false},
		{true, "org/repo", true},
	} {
		got := unfit(c.downloads, c.model)
		if (got == "") != c.fits || !c.fits && !strings.HasPrefix(got, `a server loads a .gguf file, and "/model" is not one: `) {
			t.Errorf("%q, download %v: the problem is %q", c.model, c.downloads, got)
		}
	}
}
