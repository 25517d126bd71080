package openai_test

import (
	"encoding/json"
	"runtime"
	"testing"
	"unicode/utf8"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/openai/messages"
	"github.com/gorizond/koldun/internal/openai/responses"
	"github.com/gorizond/koldun/test/hostile/bodies"
)

// translated reads a request for a response, and makes the chat of it.
func translated(body []byte) (openai.Request, error) {
	r, err := responses.Parse(body)
	if err != nil {
		return openai.Request{}, err
	}
	chat, err := r.Chat(r.Input)
	return chat.Request(openai.OperationChat), err
}

// decoders are the parsers of all dialects, by path.
var decoders = map[string]func([]byte) (openai.Request, error){
	"/v1/chat/completions": openai.DecodeChat, "/v1/completions": openai.DecodeCompletion, "/v1/embeddings": openai.DecodeEmbedding,
	"/v1/responses": translated,
	"/v1/messages": func(body []byte) (openai.Request, error) {
		chat, _, err := messages.Parse(body)
		return chat.Request(openai.OperationChat), err
	},
}

// TestParsingIsBounded holds that reading a body and writing it for the queue allocates no
// more than a gateway has memory for, whatever the body repeats.
func TestParsingIsBounded(t *testing.T) {
	const size, few = 1 << 20, 1 << 20 // what does not grow with a body takes few bytes
	for _, b := range bodies.All() {
		t.Run(b.Path+" "+b.Name, func(t *testing.T) {
			body := []byte(b.JSON(size))
			if utf8.Valid(body) && !json.Valid(body) {
				t.Fatal("the body is no JSON")
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			request, err := decoders[b.Path](body)
			if err == nil {
				_, err = request.Body("default/tiny", 0)
			}
			runtime.ReadMemStats(&after)
			allocated := float64(after.TotalAlloc - before.TotalAlloc)
			said := "it is served"
			if err != nil {
				said = err.Error()
			}
			t.Logf("%.1f times the body: %.150s", allocated/size, said)
			if allocated > openai.Parsed*size+few {
				t.Errorf("a body of %d bytes takes %.0f: %s", size, allocated, said)
			}
			if n := len(request.Ignored); n > 64 {
				t.Errorf("%d unknown fields go on to admission", n)
			}
			if len(said) > 1200 {
				t.Errorf("the error has %d bytes", len(said))
			}
		})
	}
}
