package responses

import (
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// own are the names that parameters of chats have here. A name that ends in [ or . stands
// for all that it begins.
var own = []struct{ chat, own string }{
	{"messages", "input"}, {"messages[", "input"}, {"response_format", "text.format"}, {"response_format.", "text.format"},
	{"max_completion_tokens", "max_output_tokens"}, {"logprobs", "include"}, {"reasoning_effort", "reasoning.effort"}, {"verbosity", "text.verbosity"},
}

// Rename returns an error about a chat with the names that the request for a response
// has for its parameters.
func Rename(e *openai.Error) *openai.Error {
	for _, name := range own {
		matches := e.Param == name.chat
		if strings.HasSuffix(name.chat, "[") || strings.HasSuffix(name.chat, ".") {
			matches = strings.HasPrefix(e.Param, name.chat)
		}
		if !matches {
			continue
		}
		out := *e
		out.Param = name.own
		out.Message = strings.ReplaceAll(e.Message, "'"+e.Param+"'", "'"+name.own+"'")
		return &out
	}
	return e
}
