package gateway

import (
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// TestTokensWithoutUsage checks that a cancelled request is charged for the computed
// tokens.
func TestTokensWithoutUsage(t *testing.T) {
	used := queue.Frame{Usage: &queue.Usage{PromptTokens: 3, CompletionTokens: 4}}
	started := time.Now()
	for name, c := range map[string]struct {
		generation generation
		want       int64
	}{
		"Counted":   {generation{prompt: 9, reply: reply{follow: follower{frame: used, pieces: 9, started: started}}}, 7},
		"Left":      {generation{prompt: 9, reply: reply{follow: follower{pieces: 2, started: started}}}, 11},
		"NotWorked": {generation{prompt: 9}, 0},
	} {
		if got := c.generation.tokens(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
