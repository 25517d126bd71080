package openai

import (
	"encoding/json"
	"testing"
)

// TestUsageDetails holds that details are kept as servers give them, and absent where they do
// not.
func TestUsageDetails(t *testing.T) {
	for name, c := range map[string]struct{ given, want string }{
		"All":     {`{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":6,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":3}}`, `{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":6},"completion_tokens_details":{"reasoning_tokens":3}}`},
		"Zero":    {`{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":0}}`, `{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":0}}`},
		"Null":    {`{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_tokens_details":null,"completion_tokens_details":{}}`, `{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}`},
		"Nothing": {`{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}`, `{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}`},
	} {
		t.Run(name, func(t *testing.T) {
			var u Usage
			if err := json.Unmarshal([]byte(c.given), &u); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(NewUsage(u.PromptTokens, u.CompletionTokens).WithDetails(u.Cached(), u.Reasoned()))
			if err != nil || string(got) != c.want {
				t.Errorf("got %s: %v", got, err)
			}
		})
	}
	sum := SumUsage([]*Usage{NewUsage(9, 1).WithDetails(new(0), new(1)), nil, NewUsage(9, 2).WithDetails(new(8), new(2)), NewUsage(9, 3)})
	if *sum.Cached() != 0 || *sum.Reasoned() != 3 || sum.CompletionTokens != 6 {
		t.Errorf("the sum is %+v", sum)
	}
}
