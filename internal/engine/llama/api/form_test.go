package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/engine/llama/api"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/constrain"
	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/openai"
)

const colour = `"response_format":{"type":"json_schema","json_schema":{"name":"c","strict":true,"schema":{"type":"object","properties":{"colour":{"enum":["red"]}},"required":["colour"],"additionalProperties":false}}}`

// TestForms asks the engine for the form that the client wants.
func TestForms(t *testing.T) {
	call := "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Bonn\"}}\n</tool_call>"
	both := call + "\n" + call
	for name, c := range map[string]struct {
		fields  string
		yes, no []string
	}{
		"Schema":   {colour, []string{`{"colour":"red"}`}, []string{`{"colour":"blue"}`, call}},
		"Object":   {`"response_format":{"type":"json_object"}`, []string{`{"a":1}`}, []string{`[]`}},
		"NoSchema": {`"response_format":{"type":"json_schema","json_schema":{"name":"c"}}`, []string{`{"a":1}`}, []string{`[]`}},
		"Required": {weatherTool + `,"tool_choice":"required"`, []string{call, both}, []string{`Hi`, `{}`}},
		"Single":   {weatherTool + `,"tool_choice":"required","parallel_tool_calls":false`, []string{call}, []string{both}},
		"Named":    {weatherTool + `,"tool_choice":{"type":"function","function":{"name":"get_weather"}}`, []string{call}, []string{both, `{}`}},
		"Both":     {weatherTool + "," + colour, []string{call, both, `{"colour":"red"}`}, []string{`Hi`, `{"colour":"blue"}`}},
		"Forced":   {weatherTool + `,"tool_choice":"required",` + colour, []string{call}, []string{`{"colour":"red"}`}},
		"NoCalls":  {weatherTool + `,"tool_choice":"none",` + colour, []string{`{"colour":"red"}`}, []string{call}},
		"Text":     {`"response_format":{"type":"text"}`, nil, nil},
		"Auto":     {weatherTool, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var asked *constrain.Grammar
			server := serve(t, engineFunc(func(ctx context.Context, r llama.Request, emit func(llama.Piece) error) (llama.Result, error) {
				asked = r.Grammar
				return says(llama.FinishStop, "x")(ctx, r, emit)
			}), api.Options{Calls: toolcall.Hermes})
			if resp, body := post(t, server.URL, with(c.fields)); resp.StatusCode != 200 {
				t.Fatal(body)
			}
			first := asked
			post(t, server.URL, with(c.fields))
			if (asked == nil) != (c.yes == nil) || asked != first {
				t.Fatalf("the engine gets the grammar %p and then %p", first, asked)
			}
			for _, text := range c.yes {
				if !asked.Accepts(text) {
					t.Errorf("%s is refused", text)
				}
			}
			for _, text := range c.no {
				if asked.Accepts(text) {
					t.Errorf("%s is accepted", text)
				}
			}
		})
	}
}

func TestRefusesForms(t *testing.T) {
	wrong := strings.Replace(colour, `"enum"`, `"minLength"`, 1)
	for fields, want := range map[string]string{
		wrong:                      `'response_format' does not work here: answers cannot be guaranteed, because the schema cannot be used at \"#/properties/colour/minLength\"`,
		colour + `,"stop":["red"]`: `'stop' cannot stand beside`,
		strings.Replace(colour, `{"enum":["red"]}`, `{"type":"string","pattern":"(((a{9}){9}){9}){9}"}`, 1):                                `#/properties/colour/pattern\": error parsing regexp: invalid repeat count`,
		strings.Replace(colour, `{"enum":["red"]}`, `{"type":"string","pattern":"\\p{L}{900}"}`, 1):                                        `#/properties/colour/pattern\": it needs more than 100000 states`,
		`"response_format":{"type":"json_schema","json_schema":[]}`:                                                                        `wrong type`,
		strings.Replace(weatherTool, `"properties"`, `"not":{},"properties"`, 1) + `,"tool_choice":"required"`:                             `'tools' does not work here: calls cannot be guaranteed, because the parameters of tool \"get_weather\"`,
		strings.Replace(weatherTool, `"properties"`, `"not":{},"properties"`, 1) + `,"tool_choice":"required","parallel_tool_calls":false`: `#/not`,
	} {
		resp, body := post(t, serve(t, says(llama.FinishStop, "x"), api.Options{}).URL, with(fields))
		if resp.StatusCode != 400 || !strings.Contains(body, want) {
			t.Errorf("%s gives %s %s, want %s", fields, resp.Status, body, want)
		}
	}
}

// TestForcedChoiceByModel offers a forced choice if the arguments of the model's
// calls are JSON.
func TestForcedChoiceByModel(t *testing.T) {
	for family, want := range map[toolcall.Family]bool{toolcall.Hermes: true, toolcall.Generic: true, toolcall.QwenCoder: false, toolcall.Pythonic: false} {
		server := serve(t, says(llama.FinishStop, "x"), api.Options{Calls: family})
		resp, body := post(t, server.URL, with(weatherTool+`,"tool_choice":"required"`))
		offers := openai.NewFeatures(resp.Header.Get(openai.HeaderFeatures))
		if offers.Include(openai.FeatureToolChoice) != want || (resp.StatusCode == 200) != want || !offers.Include(openai.FeatureJSONSchema) {
			t.Errorf("%s: offers %q, answers %s", family, offers, body)
		}
	}
	resp, body := post(t, serve(t, says(llama.FinishStop, "x"), api.Options{Calls: toolcall.GLM}).URL, with(weatherTool+","+colour))
	if resp.StatusCode != 400 || !strings.Contains(body, "arguments are not JSON") {
		t.Errorf("tools and a schema give %s", body)
	}
}

// TestExhaustedForms says which parameter asks for a form that takes too long, before the
// answer has begun and within a stream.
func TestExhaustedForms(t *testing.T) {
	limit := fault.As(fault.Invalid, &llama.FormError{Err: &constrain.LimitError{Part: `the schema at "#/a"`, Bound: "more than 7 steps"}})
	server := serve(t, engineFunc(func(_ context.Context, _ llama.Request, emit func(llama.Piece) error) (llama.Result, error) {
		return llama.Result{}, errors.Join(emit(llama.Piece{}), limit)
	}), api.Options{Calls: toolcall.Hermes})
	for fields, want := range map[string]string{
		colour: `"param":"response_format"`,
		weatherTool + `,"tool_choice":"required"`: `"param":"tools"`,
	} {
		resp, body := post(t, server.URL, with(fields))
		if resp.StatusCode != 400 || !strings.Contains(body, want) ||
			!strings.Contains(body, `at \"#/a\" allows too many ways to continue: a token takes more than 7 steps`) {
			t.Errorf("%s gives %s %s", fields, resp.Status, body)
		}
		_, body = post(t, server.URL, with(fields+`,"stream":true`))
		if !strings.Contains(body, want) || !strings.Contains(body, `"type":"invalid_request_error"`) || strings.Contains(body, "[DONE]") {
			t.Errorf("%s gives the stream %s", fields, body)
		}
	}
}
