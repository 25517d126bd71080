package up_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/openai/openai-go/v3"

	"github.com/gorizond/koldun/internal/engine/embedded"
)

// checkModel wants what the embedded engine offers in the list of models.
func checkModel(t *testing.T, m openai.Model) {
	t.Helper()
	var offers struct {
		Operations, Features []string
		ContextLength        int `json:"context_length"`
	}
	if err := json.Unmarshal([]byte(m.RawJSON()), &offers); err != nil {
		t.Fatal(err)
	}
	about := embedded.Engine()
	for _, f := range about.Features {
		if !slices.Contains(offers.Features, f) {
			t.Errorf("the model does not announce %s: %s", f, m.RawJSON())
		}
	}
	if len(offers.Operations) != len(about.Operations) || offers.ContextLength == 0 {
		t.Errorf("the model announces %s", m.RawJSON())
	}
}
