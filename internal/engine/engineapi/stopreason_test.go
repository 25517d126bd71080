package engineapi_test

import (
	"fmt"
	"testing"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/openai"
)

// TestServerSaysWhichStopCame holds that the sequence is read as vLLM and SGLang name
// it, who name the number of an end token in the same field.
func TestServerSaysWhichStopCame(t *testing.T) {
	for last, want := range map[string]string{
		`"stop_reason":"END"`: "END", `"matched_stop":"END"`: "END", `"stop_reason":null,"matched_stop":null`: "", `"stop_reason":2`: "", `"matched_stop":128009`: "", `"index":0`: "",
	} {
		e := enginetest.StartServer(t, func(enginetest.ServerRequest) enginetest.ServerReply {
			return enginetest.ServerReply{Events: []string{
				enginetest.TextChunk("/v1/chat/completions", "Hi"), fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop",%s}]}`, last),
			}}
		})
		r, _, err := engineapi.Decode(openai.OperationChat, []byte(`{"model":"m","messages":[{"role":"user","content":"a"}],"stop":["END"]}`))
		if err != nil {
			t.Fatal(err)
		}
		text, _, got, err := gather(t, serverClient(t, e.URL), r, engineapi.Options{})
		if err != nil || text != "Hi" || got.StopSequence != want {
			t.Errorf("%s: %q, %+v, %v", last, text, got, err)
		}
	}
}
