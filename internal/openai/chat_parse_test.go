package openai

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hello = `"messages":[{"role":"user","content":"hello"}]`

var helloMessages = []Message{{Role: User, Content: "hello"}}

func TestParseChatAccepts(t *testing.T) {
	const together = " together with all else that the request needs"
	cases := map[string]struct {
		body string
		want ChatRequest
	}{
		"Least": {
			body: `{"model":"m",` + hello + `}`,
			want: ChatRequest{Model: "m", Messages: helloMessages},
		},
		"Everything": {
			body: `{"model":"ns/m","messages":[
				{"role":"developer","content":"be brief","name":"boss"},
				{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},
				{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]},
				{"role":"assistant","content":null,"refusal":"never","tool_calls":[]},
				{"role":"user","content":"","x":1,"y":null}],
				"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false},
				"max_completion_tokens":7,"temperature":0.5,"top_p":1,"seed":-3,"stop":["a","","b"],"user":"u",
				"n":1,"logprobs":false,"top_logprobs":0,"response_format":{"type":"text"},"modalities":["text"],
				"tools":[],"tool_choice":"none","parallel_tool_calls":true,"metadata":{"a":"b"},"store":false}`,
			want: ChatRequest{
				Model: "ns/m",
				Messages: []Message{
					{Role: System, Content: "be brief", Name: "boss"},
					{Role: User, Content: "one\ntwo"},
					{Role: Assistant, Content: "no"},
					{Role: Assistant, Content: "never"},
					{Role: User, Extra: map[string]json.RawMessage{"x": json.RawMessage("1")}},
				},
				Stream: true, IncludeUsage: true, MaxTokens: 7, Temperature: new(0.5), TopP: new(1.0), Seed: new(int64(-3)),
				Stop: []string{"a", "b"}, User: "u",
			},
		},
		"NullsAreAbsent": {
			body: `{"model":"m",` + hello + `,"stream":null,"stop":null,"n":null,"tools":null,"max_tokens":null,"response_format":null,
				"frequency_penalty":null,"logit_bias":null,"seed":null,"unknown":null,"stream_options":null}`,
			want: ChatRequest{Model: "m", Messages: helloMessages},
		},
		"Featured": {
			body: `{"model":"m","messages":[
				{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function"}]},
				{"role":"tool","tool_call_id":"1","content":[{"type":"text","text":"5"}],"x":1}],
				"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"auto","parallel_tool_calls":false,
				"response_format":{"type":"json_object"},"logprobs":true,"top_logprobs":2}`,
			want: ChatRequest{
				Model: "m", Messages: []Message{
					{Role: Assistant, ToolCalls: json.RawMessage(`[{"id":"1","type":"function"}]`)},
					{Role: Tool, ToolCallID: "1", Content: "5", Extra: map[string]json.RawMessage{"x": json.RawMessage("1")}},
				},
				Featured: map[string]json.RawMessage{
					"tools": json.RawMessage(`[{"type":"function","function":{"name":"f"}}]`), "tool_choice": json.RawMessage(`"auto"`),
					"parallel_tool_calls": json.RawMessage("false"), "response_format": json.RawMessage(`{"type":"json_object"}`),
					"logprobs": json.RawMessage("true"), "top_logprobs": json.RawMessage("2"),
				},
				Needs: []Need{
					{FeatureTools, BadRequest("messages[0].tool_calls", CodeUnsupported, "'messages[0].tool_calls' is not supported: no engine of this model offers tools"+together)},
					{FeatureJSONSchema, BadRequest("response_format", CodeUnsupported, "'response_format' is not supported: no engine of this model offers structured output"+together)},
					{FeatureLogprobs, BadRequest("logprobs", CodeUnsupported, "'logprobs' is not supported: no engine of this model offers log probabilities"+together)},
				},
			},
		},
		"StopAsString":       {body: `{"model":"m",` + hello + `,"stop":"x"}`, want: ChatRequest{Model: "m", Messages: helloMessages, Stop: []string{"x"}}},
		"OldTokenLimit":      {body: `{"model":"m",` + hello + `,"max_tokens":5}`, want: ChatRequest{Model: "m", Messages: helloMessages, MaxTokens: 5}},
		"WholeFloat":         {body: `{"model":"m",` + hello + `,"max_tokens":5.0}`, want: ChatRequest{Model: "m", Messages: helloMessages, MaxTokens: 5}},
		"LargestSeed":        {body: `{"model":"m",` + hello + `,"seed":9223372036854775807}`, want: ChatRequest{Model: "m", Messages: helloMessages, Seed: new(int64(9223372036854775807))}},
		"NeutralHintsVanish": {body: `{"model":"m",` + hello + `,"frequency_penalty":0,"presence_penalty":0.0,"logit_bias":{}}`, want: ChatRequest{Model: "m", Messages: helloMessages}},
		"HintsAndUnknown": {
			body: `{"model":"m",` + hello + `,"frequency_penalty":0.5,"logit_bias":{"1":2},"reasoning_effort":"low","top_k":40}`,
			want: ChatRequest{
				Model: "m", Messages: helloMessages,
				Hints: map[string]json.RawMessage{
					"frequency_penalty": json.RawMessage("0.5"), "logit_bias": json.RawMessage(`{"1":2}`), "reasoning_effort": json.RawMessage(`"low"`),
				},
				Extra: map[string]json.RawMessage{"top_k": json.RawMessage("40")},
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseChat([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			again, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			var back ChatRequest
			if err := json.Unmarshal(again, &back); err != nil {
				t.Fatalf("cannot read back %s: %v", again, err)
			}
			if d := cmp.Diff(got, back); d != "" {
				t.Errorf("the normal form does not survive: %s", d)
			}
		})
	}
}

func TestParseChatRefuses(t *testing.T) {
	with := func(fields string) string { return `{"model":"m",` + hello + `,` + fields + `}` }
	message := func(m string) string { return `{"model":"m","messages":[` + m + `]}` }
	cases := map[string]struct {
		body  string
		param string
		code  string
	}{
		"Empty":                {"", "", CodeInvalidJSON},
		"NotJSON":              {"{", "", CodeInvalidJSON},
		"Trailing":             {`{"model":"m",` + hello + `}x`, "", CodeInvalidJSON},
		"NotAnObject":          {"[]", "", CodeInvalidType},
		"Null":                 {"null", "", CodeInvalidType},
		"NoModel":              {"{" + hello + "}", "model", CodeMissing},
		"EmptyModel":           {`{"model":"",` + hello + "}", "model", CodeMissing},
		"ModelType":            {`{"model":1,` + hello + "}", "model", CodeInvalidType},
		"NoMessages":           {`{"model":"m"}`, "messages", CodeMissing},
		"EmptyMessages":        {`{"model":"m","messages":[]}`, "messages", CodeInvalidValue},
		"MessagesType":         {`{"model":"m","messages":"hi"}`, "messages", CodeInvalidType},
		"MessageType":          {message(`"hi"`), "messages[0]", CodeInvalidType},
		"MessageNull":          {message(`null`), "messages[0]", CodeInvalidType},
		"NoRole":               {message(`{"content":"x"}`), "messages[0].role", CodeMissing},
		"UnknownRole":          {message(`{"role":"root","content":"x"}`), "messages[0].role", CodeInvalidValue},
		"NoContent":            {message(`{"role":"user"}`), "messages[0].content", CodeMissing},
		"ContentType":          {message(`{"role":"user","content":5}`), "messages[0].content", CodeInvalidType},
		"NoParts":              {message(`{"role":"user","content":[]}`), "messages[0].content", CodeInvalidValue},
		"ImagePart":            {message(`{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"u"}}]}`), "messages[0].content[1].type", CodeUnsupportedValue},
		"PartWithoutText":      {message(`{"role":"user","content":[{"type":"text"}]}`), "messages[0].content[0].text", CodeMissing},
		"PartWithoutType":      {message(`{"role":"user","content":[{"text":"x"}]}`), "messages[0].content[0].type", CodeMissing},
		"PartType":             {message(`{"role":"user","content":["x"]}`), "messages[0].content[0]", CodeInvalidType},
		"NameType":             {message(`{"role":"user","content":"x","name":{}}`), "messages[0].name", CodeInvalidType},
		"AssistantAudio":       {message(`{"role":"assistant","content":"x","audio":{"id":"1"}}`), "messages[0].audio", CodeUnsupported},
		"StreamType":           {with(`"stream":"yes"`), "stream", CodeInvalidType},
		"OptionsWithoutStream": {with(`"stream_options":{"include_usage":true}`), "stream_options", CodeInvalidValue},
		"OptionsType":          {with(`"stream":true,"stream_options":[]`), "stream_options", CodeInvalidType},
		"UsageType":            {with(`"stream":true,"stream_options":{"include_usage":1}`), "stream_options.include_usage", CodeInvalidType},
		"TokensZero":           {with(`"max_tokens":0`), "max_tokens", CodeInvalidValue},
		"TokensFraction":       {with(`"max_tokens":1.5`), "max_tokens", CodeInvalidType},
		"TokensHuge":           {with(`"max_tokens":1e300`), "max_tokens", CodeInvalidValue},
		"TokensString":         {with(`"max_completion_tokens":"5"`), "max_completion_tokens", CodeInvalidType},
		"TokensContradict":     {with(`"max_completion_tokens":5,"max_tokens":6`), "max_tokens", CodeInvalidValue},
		"Hot":                  {with(`"temperature":2.1`), "temperature", CodeInvalidValue},
		"TemperatureType":      {with(`"temperature":"hot"`), "temperature", CodeInvalidType},
		"TopP":                 {with(`"top_p":-0.1`), "top_p", CodeInvalidValue},
		"SeedTooLarge":         {with(`"seed":9223372036854775808`), "seed", CodeInvalidValue},
		"StopType":             {with(`"stop":1`), "stop", CodeInvalidType},
		"StopItemType":         {with(`"stop":["a",1]`), "stop[1]", CodeInvalidType},
		"StopNull":             {with(`"stop":["a",null]`), "stop[1]", CodeInvalidType},
		"StopMany":             {with(`"stop":[` + strings.Repeat(`"a",`, 16) + `"a"]`), "stop", CodeInvalidValue},
		"ToolsType":            {with(`"tools":{"a":1}`), "tools", CodeInvalidType},
		"ToolType":             {with(`"tools":["f"]`), "tools[0]", CodeInvalidType},
		"ParallelType":         {with(`"parallel_tool_calls":1`), "parallel_tool_calls", CodeInvalidType},
		"ToolCallsOfUser":      {message(`{"role":"user","content":"x","tool_calls":[{"id":"1"}]}`), "messages[0].tool_calls", CodeInvalidValue},
		"ToolCallsType":        {message(`{"role":"assistant","content":"x","tool_calls":{"id":"1"}}`), "messages[0].tool_calls", CodeInvalidValue},
		"FunctionRole":         {message(`{"role":"function","content":"x","name":"f"}`), "messages[0].role", CodeUnsupported},
		"FunctionCall":         {with(`"function_call":{"name":"f"}`), "function_call", CodeUnsupported},
		"FormatUnknown":        {with(`"response_format":{"type":"grammar"}`), "response_format", CodeUnsupported},
		"Functions":            {with(`"functions":[{"name":"f"}]`), "functions", CodeUnsupported},
		"ResponseFormatType":   {with(`"response_format":"text"`), "response_format", CodeInvalidType},
		"NRange":               {with(`"n":9`), "n", CodeInvalidValue},
		"NType":                {with(`"n":"2"`), "n", CodeInvalidType},
		"Modalities":           {with(`"modalities":["text","audio"]`), "modalities", CodeUnsupportedValue},
		"Audio":                {with(`"audio":{"voice":"x"}`), "audio", CodeUnsupported},
		"WebSearch":            {with(`"web_search_options":{}`), "web_search_options", CodeUnsupported},
		"PenaltyType":          {with(`"frequency_penalty":"x"`), "frequency_penalty", CodeInvalidType},
		"PenaltyRange":         {with(`"presence_penalty":3`), "presence_penalty", CodeInvalidValue},
		"BiasType":             {with(`"logit_bias":[1]`), "logit_bias", CodeInvalidType},
		"UserType":             {with(`"user":5`), "user", CodeInvalidType},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := ParseChat([]byte(c.body))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("err = %v, want an *Error", err)
			}
			if e.Param != c.param || e.Code != c.code || e.Status != 400 || e.Type != InvalidRequest {
				t.Errorf("got %+v, want param %q code %q", e, c.param, c.code)
			}
			if c.param != "" && !strings.Contains(e.Message, c.param) {
				t.Errorf("message %q does not name %q", e.Message, c.param)
			}
		})
	}
}

func TestIgnored(t *testing.T) {
	r, err := ParseChat([]byte(`{"model":"m",` + hello + `,"top_k":1,"presence_penalty":1,"frequency_penalty":0}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"presence_penalty", "top_k"}, r.Ignored()); d != "" {
		t.Error(d)
	}
}

func TestErrorOnTheWire(t *testing.T) {
	e := &Error{Status: 404, Message: "no <b>", Type: InvalidRequest, Code: CodeModelNotFound}
	b, err := Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"error":{"message":"no <b>","type":"invalid_request_error","param":null,"code":"model_not_found"}}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
	var back Error
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	back.Status = 404
	if d := cmp.Diff(*e, back); d != "" {
		t.Error(d)
	}
}

func FuzzParseChat(f *testing.F) {
	f.Add([]byte(`{"model":"m",` + hello + `}`))
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"\ud800"}],"x":{}}],"stop":["a"],"seed":1e3,"top_k":1}`))
	f.Add([]byte(`{"model":"m",` + hello + `,"stream":true,"stream_options":{"include_usage":true},"logit_bias":{"1":1},"temperature":1}`))
	f.Add([]byte(`{"model":"m",` + hello + `,"tools":[{}],"n":2}`))
	f.Add([]byte(`{"model":"m","messages":[{"role":"tool","tool_call_id":"1","content":""},{"role":"assistant","tool_calls":[{}]}],"tools":[{}],"tool_choice":{},"logprobs":true}`))
	f.Add([]byte("\xff{}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := ParseChat(body)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Message == "" || e.Status != 400 {
				t.Fatalf("err = %#v", err)
			}
			return
		}
		once, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		r2, err := ParseChat(once)
		if err != nil {
			t.Fatalf("cannot read back %s: %v", once, err)
		}
		twice, err := json.Marshal(r2)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("the normal form moved (%v):\n%s\n%s", err, once, twice)
		}
	})
}

func BenchmarkParseChat(b *testing.B) {
	body := []byte(`{"model":"ns/m","messages":[{"role":"system","content":"` + strings.Repeat("x", 2000) + `"},{"role":"user","content":"hello"}],"stream":true,"temperature":0.7}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseChat(body); err != nil {
			b.Fatal(err)
		}
	}
}
