package messages

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/openai"
)

// TestStopSequence holds that an answer, streamed and not, says which stop sequence
// ended it, unless something else counts more.
func TestStopSequence(t *testing.T) {
	const named, refused, cut = `"stop_reason":"stop_sequence","stop_sequence":"END"`, `"stop_reason":"refusal","stop_sequence":null`, `"stop_reason":"max_tokens","stop_sequence":null`
	for name, c := range map[string]struct {
		finish string
		parts  openai.Parts
		want   string
	}{
		"Sequence": {openai.FinishStop, openai.Parts{StopSequence: "END"}, named},
		"None":     {openai.FinishStop, openai.Parts{}, `"stop_reason":"end_turn","stop_sequence":null`},
		"Refused":  {openai.FinishStop, openai.Parts{StopSequence: "END", Refusal: "No."}, refused},
		"Cut":      {openai.FinishLength, openai.Parts{StopSequence: "END"}, cut},
	} {
		t.Run(name, func(t *testing.T) {
			whole, err := json.Marshal(NewMessage("msg_1", "m", "", "Hi", &c.parts, c.finish, nil))
			if err != nil || !strings.Contains(string(whole), c.want) {
				t.Errorf("%s, %v", whole, err)
			}
			s := NewStream("msg_1", "m")
			b := s.Done(s.Finish(s.Parts(s.Role(nil), "Hi", &c.parts), c.finish))
			if !strings.Contains(string(b), `"delta":{`+c.want+`}`) {
				t.Errorf("the stream is %s", b)
			}
		})
	}
}
