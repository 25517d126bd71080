package gateway

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/gorizond/koldun/test/waittest"
)

// TestOfficialClientResponds runs a loop of tools with OpenAI's client: the call
// comes, and the next request sends its output with the id of the response.
func TestOfficialClientResponds(t *testing.T) {
	w := newWorld(t, nil)
	startRunner(t, w.bus, tinySession, callsTools)
	w = storing(t, w, nil)
	client := w.client()
	params := responses.ResponseNewParams{
		Model: "tiny", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("weather?")},
		Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction("weather", map[string]any{"type": "object"}, true), responses.ToolParamOfFunction("time", nil, false)},
	}
	got, err := client.Responses.New(waittest.Context(t), params)
	if err != nil {
		t.Fatal(err)
	}
	if got.OutputText() != "Let me" || got.Status != "completed" || len(got.Output) != 4 || got.Usage.TotalTokens != 12 {
		t.Fatalf("got %s", got.RawJSON())
	}
	var outputs responses.ResponseInputParam
	for _, item := range got.Output {
		if item.Type == "function_call" {
			output := responses.ResponseInputItemParamOfFunctionCallOutput("12 °C")
			output.OfFunctionCallOutput.CallID = openai.String(item.CallID)
			outputs = append(outputs, output)
		}
	}
	params.PreviousResponseID = openai.String(got.ID)
	params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: outputs}
	stream := client.Responses.NewStreaming(waittest.Context(t), params)
	var text, arguments, last string
	for stream.Next() {
		e := stream.Current()
		last = e.Type
		switch e.Type {
		case "response.output_text.delta":
			text += e.Delta
		case "response.function_call_arguments.done":
			arguments += e.Arguments
		}
	}
	if err := stream.Err(); err != nil || text != "Let me" || arguments != `{"city":"Brno"}{}` || last != "response.completed" {
		t.Errorf("text %q, arguments %q, last %q, %v", text, arguments, last, err)
	}
	params.PreviousResponseID = openai.String("resp_unknown")
	_, err = client.Responses.New(waittest.Context(t), params)
	wantAPIError(t, err, 400, "previous_response_not_found", "previous_response_id")
}
