package engineapi

import (
	"slices"

	"github.com/gorizond/koldun/internal/openai"
)

// A WarmUp asks for one token, or for another answer that proves that the engine
// computes. A server has to list the model first.
type WarmUp struct{}

func (WarmUp) chat() Chat {
	return Chat{Messages: []openai.Message{{Role: openai.User, Content: "Hi"}}, MaxTokens: 1}
}

func (w WarmUp) call() (call, error) { return w.chat().call() }

func (w WarmUp) ask(s *Server) (serverAsk, error) {
	ask, err := w.request(s).ask(s)
	ask.listed = true
	return ask, err
}

// request returns a request of an operation that the server serves.
func (w WarmUp) request(s *Server) Request {
	chat := w.chat()
	switch {
	case slices.Contains(s.cfg.Operations, openai.OperationChat):
	case slices.Contains(s.cfg.Operations, openai.OperationCompletion):
		chat.Operation = openai.OperationCompletion
	case slices.Contains(s.cfg.Operations, openai.OperationEmbedding):
		return Embedding{Input: []byte(`["Hi"]`), Count: 1}
	}
	return chat
}
