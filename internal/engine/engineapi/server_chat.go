package engineapi

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
)

// A serverAsk is a Request in the form of a server's HTTP.
type serverAsk struct {
	path        string
	body        []byte
	contentType string // of the answer
	listed      bool   // the server has to list the model first
	read        func(*answer, io.Reader) error
	check       *schemaCheck // of the answer; nil: none
}

// ask sends the chat as its client wrote it, in normal form, but for the
// parameters that the server would not honour or would refuse.
func (c Chat) ask(s *Server) (serverAsk, error) {
	if len(c.Messages) == 0 {
		return serverAsk{}, fault.Errorf(fault.Invalid, "cannot ask the server: there are no messages")
	}
	body := map[string]any{"model": s.cfg.Model, "stream": true, "stream_options": map[string]bool{"include_usage": true}}
	s.copyHonoured(body, c.More)
	for name, value := range c.Featured {
		body[name] = value
	}
	c.sampling(s, body)
	path := "/chat/completions"
	if c.Operation == openai.OperationCompletion { // whose prompt is the only message
		path = "/completions"
		body["prompt"] = c.Messages[0].Content
		c.countLogprobs(body)
	} else {
		body["messages"] = c.Messages
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return serverAsk{}, fault.Errorf(fault.Invalid, "cannot ask the server: %w", err)
	}
	check, err := newSchemaCheck(c.Featured["response_format"])
	return serverAsk{path: path, body: encoded, contentType: "text/event-stream", read: (*answer).events, check: check}, err
}

// countLogprobs asks for log probabilities as completions do: by the number of
// alternatives.
func (c Chat) countLogprobs(body map[string]any) {
	if c.Featured["logprobs"] == nil {
		return
	}
	body["logprobs"] = 0
	if top := c.Featured["top_logprobs"]; top != nil {
		body["logprobs"] = top
	}
	delete(body, "top_logprobs")
}

// honours reports whether the server honours a parameter.
func (s *Server) honours(name string) bool { return slices.Contains(s.cfg.Parameters, name) }

// copyHonoured copies the parameters that the server honours to a body.
func (s *Server) copyHonoured(body map[string]any, parameters map[string]json.RawMessage) {
	for name, value := range parameters {
		if s.honours(name) {
			body[name] = value
		}
	}
}

// sampling sets the parameters that all engines have.
func (c Chat) sampling(s *Server, body map[string]any) {
	set := func(name string, value any, given bool) {
		if given && s.honours(name) {
			body[name] = value
		}
	}
	set(openai.HintTemperature, c.Temperature, c.Temperature != nil)
	set(openai.HintTopP, c.TopP, c.TopP != nil)
	set(openai.HintSeed, c.Seed, c.Seed != nil)
	if c.MaxTokens > 0 {
		body["max_tokens"] = c.MaxTokens // the older name, which all servers know
	}
	if len(c.Stop) > 0 {
		body["stop"] = c.Stop
	}
}
