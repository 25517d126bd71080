package gateway

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// offerAll announces a runner of tiny that offers everything.
func (w *world) offerAll() {
	w.t.Helper()
	w.putRunner(queue.Runner{
		Name: "r1", State: queue.RunnerIdle,
		Operations: append(openai.DefaultOperations(), openai.OperationEmbedding), Features: "dimensions,json_schema,logprobs,tool_choice,tools",
	})
}

// traveller is an engine that always answers alike, for the clients of
// test/openai-node: it calls weather for two cities, one after the other, and then
// repeats the results. It hands over first if it can. A trip that fits the schema
// is its structured output.
func traveller(_ context.Context, s *responder) {
	s.started()
	if s.request.Operation == openai.OperationEmbedding {
		embedInputs(s)
		return
	}
	results := resultsOf(s.chat.Messages)
	switch tool := nextTool(s.chat, len(results)); {
	case tool == "weather":
		callTool(s, tool, `{"city":"`+[]string{"Brno", "Olomouc"}[len(results)%2]+`"}`)
	case strings.HasPrefix(tool, "transfer_to_"):
		callTool(s, tool, "{}")
	case tool != "": // whose arguments are the structured output
		callTool(s, tool, `{"city":"Brno","days":2}`)
	case s.chat.Featured["response_format"] != nil:
		answerIn(s, `{"city":"Brno",`, `"days":`, `2}`)
	case len(results) > 0:
		answerIn(s, results[0], ", "+strings.Join(results[1:], ", "))
	default:
		answerIn(s, "Hello", " you")
	}
}

func answerIn(s *responder, pieces ...string) {
	for _, text := range pieces {
		s.text(text)
	}
	s.end(openai.FinishStop, 5, len(pieces))
}

// callTool calls a tool, in pieces.
func callTool(s *responder, name, arguments string) {
	send := func(call openai.ToolCall) {
		raw, err := openai.Encode(openai.Parts{ToolCalls: []openai.ToolCall{call}})
		if err != nil {
			panic(err)
		}
		s.piece("", string(raw))
	}
	id := "call_" + s.request.ID[len(s.request.ID)-8:]
	send(openai.ToolCall{ID: id, Type: "function", Function: openai.ToolFunction{Name: name}})
	half := len(arguments) / 2
	send(openai.ToolCall{Function: openai.ToolFunction{Arguments: arguments[:half]}})
	send(openai.ToolCall{Function: openai.ToolFunction{Arguments: arguments[half:]}})
	s.end(openai.FinishToolCalls, 5, 7)
}

// nextTool returns the tool to call after some results, or "".
func nextTool(chat openai.ChatRequest, results int) string {
	var tools []struct{ Function struct{ Name string } }
	_ = json.Unmarshal(chat.Featured["tools"], &tools)
	choice := string(chat.Featured["tool_choice"])
	if len(tools) == 0 || choice == `"none"` || results > 1 {
		return ""
	}
	for _, tool := range tools {
		if strings.Contains(choice, strconv.Quote(tool.Function.Name)) {
			return tool.Function.Name
		}
	}
	return tools[0].Function.Name
}

// resultsOf returns the results of weather since the last message of the user.
func resultsOf(messages []openai.Message) []string {
	var results []string
	weather := map[string]bool{}
	for _, m := range messages {
		switch m.Role {
		case openai.User:
			results = nil
		case openai.Assistant:
			var calls []openai.AnswerCall
			_ = json.Unmarshal(m.ToolCalls, &calls)
			for _, call := range calls {
				weather[call.ID] = call.Function.Name == "weather"
			}
		case openai.Tool:
			if weather[m.ToolCallID] {
				results = append(results, m.Content)
			}
		case openai.System:
		}
	}
	return results
}

// embedInputs gives the input n the vector [n, 0.5], from 1.
func embedInputs(s *responder) {
	r, err := openai.ParseEmbedding(s.request.Body)
	if err != nil {
		panic("the gateway queued a request that cannot be decoded: " + err.Error())
	}
	var all []openai.Embedding
	for i := range r.Count {
		all = append(all, openai.NewEmbedding(i, []float32{float32(i + 1), 0.5}))
	}
	raw, err := openai.Encode(openai.Parts{Embeddings: all})
	if err != nil {
		panic(err)
	}
	s.piece("", string(raw))
	s.end(openai.FinishStop, 3, 0)
}
