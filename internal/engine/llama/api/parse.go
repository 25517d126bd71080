package api

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/openai"
)

const (
	maxBody     = 8 << 20 // bytes; far above the text of any context
	readTimeout = time.Minute
)

// readBody reads the body of a request. The error is for the client.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *openai.Error) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(readTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	_ = c.SetReadDeadline(time.Time{}) // or the connection would seem broken later
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, &openai.Error{
			Status: http.StatusRequestEntityTooLarge, Type: openai.InvalidRequest, Message: "the body has more than 8 MiB",
		}
	}
	if err != nil {
		return nil, openai.BadRequest("", openai.CodeInvalidJSON, "the body cannot be read to its end")
	}
	return body, nil
}

// readChat reads a request. The error is for the client.
func (h *Handler) readChat(w http.ResponseWriter, r *http.Request) (openai.ChatRequest, *openai.Error) {
	body, bad := readBody(w, r)
	if bad != nil {
		return openai.ChatRequest{}, bad
	}
	chat, err := openai.ParseChat(h.complement(body))
	if err == nil && chat.Choices > 1 {
		return openai.ChatRequest{}, openai.BadRequest("n", openai.CodeUnsupportedValue, "'n' must be 1 here: the gateway asks the engine once for each choice")
	}
	if err == nil {
		return chat, chat.Request(openai.OperationChat).Refusal(openai.NewFeatures(h.features))
	}
	return openai.ChatRequest{}, parseError(err)
}

// parseError returns the error of a parser of package openai.
func parseError(err error) *openai.Error {
	var e *openai.Error
	if errors.As(err, &e) {
		return e
	}
	return openai.BadRequest("", openai.CodeInvalidJSON, err.Error())
}

// complement replaces what dllama-api allows and OpenAI does not: a missing
// model, and a token limit of 0 or less for no limit. It leaves all other faults
// to the parser.
func (h *Handler) complement(body []byte) []byte {
	var m map[string]json.RawMessage
	if json.Unmarshal(body, &m) != nil || m == nil {
		return body
	}
	changed := false
	var model string
	if raw, ok := m["model"]; !ok || json.Unmarshal(raw, &model) == nil && model == "" {
		m["model"] = encode(h.o.Model)
		changed = true
	}
	for _, field := range []string{"max_tokens", "max_completion_tokens"} {
		var n float64
		if raw, ok := m[field]; ok && json.Unmarshal(raw, &n) == nil && n <= 0 {
			delete(m, field)
			changed = true
		}
	}
	if !changed {
		return body
	}
	return encode(m)
}

// request returns what to ask of the engine for a chat, but for its messages.
func (h *Handler) request(c openai.ChatRequest) llama.Request {
	r := llama.Request{MaxTokens: c.MaxTokens, Sampling: h.o.Sampling, Stop: c.Stop}
	r.LogProbs, r.Alternatives = c.Logprobs()
	if c.Temperature != nil {
		r.Sampling.Temperature = float32(*c.Temperature)
	}
	if c.TopP != nil {
		r.Sampling.TopP = float32(*c.TopP)
	}
	if c.Seed != nil {
		r.Sampling.Seed = uint64(*c.Seed)
		return r
	}
	r.Sampling.Seed = h.seed()
	return r
}
