package gateway

import (
	"net/http"
	"slices"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/openai/messages"
	"github.com/gorizond/koldun/internal/telemetry"
)

// headerMessageID is where clients of the Messages API look for the request's id.
const headerMessageID = "Request-Id"

// messageError gives an error the shape that clients of the Messages API expect.
func messageError(e *openai.Error) any { return messages.Fail(e) }

// messages is the endpoint of Anthropic's Messages API. Its requests are chats for
// everything behind the gateway.
func (g *Gateway) messages() endpoint {
	generate := g.handleGenerate(always(messagesOperation()))
	return endpoint{
		label: "message", method: http.MethodPost, path: "/v1/messages",
		shape: messageError,
		handle: func(w http.ResponseWriter, r *http.Request, in incoming) (task, *refusal) {
			w.Header().Set(headerMessageID, requestID(in.id))
			return generate(w, r, in)
		},
	}
}

// countTokens refuses by name what clients of the Messages API may ask for: engines have
// no operation that only counts.
func countTokens() endpoint {
	return endpoint{
		label: "count-tokens", method: http.MethodPost, path: "/v1/messages/count_tokens",
		shape: messageError,
		handle: func(w http.ResponseWriter, _ *http.Request, in incoming) (task, *refusal) {
			w.Header().Set(headerMessageID, requestID(in.id))
			return nil, errNoCount()
		},
	}
}

func messagesOperation() operation {
	return operation{
		label: telemetry.OperationChat, idPrefix: "msg_", reasoning: reasoningContent,
		decode: alone(func(body []byte) (openai.Request, error) {
			chat, ignored, err := messages.Parse(body)
			out := chat.Request(openai.OperationChat)
			out.Ignored = slices.Sorted(slices.Values(append(out.Ignored, ignored...)))
			return out, err
		}),
		stream: func(o openai.StreamOptions) chunks { return messages.NewStream(o.ID, o.Model) },
		whole: func(a answer) any {
			return messages.NewMessage(a.id, a.model, a.thoughts, a.text, &a.parts, a.finish, a.usage)
		},
	}
}
