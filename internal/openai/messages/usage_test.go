package messages

import (
	"encoding/json"
	"testing"

	"github.com/gorizond/koldun/internal/openai"
)

// TestUsage holds that tokens of a cache are no input, as Anthropic counts, and that what is
// not known is null.
func TestUsage(t *testing.T) {
	for name, c := range map[string]struct {
		u    *openai.Usage
		want string
	}{
		"Known":   {openai.NewUsage(9, 4).WithDetails(new(6), nil), `{"input_tokens":3,"cache_creation_input_tokens":null,"cache_read_input_tokens":6,"output_tokens":4}`},
		"Unknown": {openai.NewUsage(9, 4), `{"input_tokens":9,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"output_tokens":4}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := json.Marshal(newUsage(c.u)); err != nil || string(got) != c.want {
				t.Errorf("got %s: %v", got, err)
			}
		})
	}
}
