package toolcall_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/openai"
)

const tools = `[
	{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {
		"location": {"type": "string"}, "days": {"type": "integer"}, "metric": {"type": ["boolean", "null"]}, "tags": {"anyOf": [{"type": "array"}, {"type": "null"}]}}}}},
	{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}},
	{"type": "function", "function": {"name": "now"}}]`

func parseTools(tb testing.TB) []toolcall.Tool {
	tb.Helper()
	list, bad := toolcall.ParseTools(json.RawMessage(tools))
	if bad != nil {
		tb.Fatal(bad)
	}
	return list
}

// An answer is what a parser makes of a text.
type answer struct {
	Text   string
	Calls  []string // NAME(ARGUMENTS)
	Called bool
}

// parse gives a parser the pieces of a text.
func parse(tb testing.TB, f toolcall.Family, list []toolcall.Tool, pieces ...string) answer {
	tb.Helper()
	n := 0
	p := toolcall.NewParser(f, toolcall.Options{Tools: list, NewID: func() string { n++; return fmt.Sprint("id", n) }})
	var out answer
	all := &openai.Parts{}
	take := func(pieces []toolcall.Piece) {
		for _, piece := range pieces {
			out.Text += piece.Text
			all.Add(&openai.Parts{ToolCalls: piece.Calls})
		}
	}
	for _, piece := range pieces {
		take(p.Push(piece))
	}
	take(p.Rest())
	for i, c := range all.ToolCalls {
		if c.Index != i || c.ID != fmt.Sprint("id", i+1) || c.Type != "function" {
			tb.Errorf("call %d is %+v", i, c)
		}
		out.Calls = append(out.Calls, c.Function.Name+"("+c.Function.Arguments+")")
	}
	out.Called = p.Called()
	return out
}

const weather = `{"location": "Köln", "days": 2}`

func calls(list ...string) answer { return answer{Calls: list, Called: true} }

func TestParser(t *testing.T) {
	weatherCall, addCall := "get_weather("+weather+")", `add({"a": 1, "b": 2})`
	for name, c := range map[string]struct {
		family toolcall.Family
		text   string
		want   answer
	}{
		"Hermes":             {toolcall.Hermes, "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": " + weather + "}\n</tool_call>", calls(weatherCall)},
		"HermesTwo":          {toolcall.Hermes, "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": " + weather + "}\n</tool_call>\n<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}\n</tool_call>\n", calls(weatherCall, addCall)},
		"HermesAround":       {toolcall.Hermes, "I look.\n\n<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>\nDone.", answer{"I look.\nDone.", []string{"now({})"}, true}},
		"HermesThinks":       {toolcall.Hermes, "<think>\nMaybe <tool_call>{\"name\": \"now\"}</tool_call>?\n</think>\n\n<tool_call>\n{\"name\": \"now\"}\n</tool_call>", answer{"<think>\nMaybe <tool_call>{\"name\": \"now\"}</tool_call>?\n</think>", []string{"now({})"}, true}},
		"HermesNoEnd":        {toolcall.Hermes, "<tool_call>{\"name\": \"now\", \"arguments\": null}", calls("now({})")},
		"HermesString":       {toolcall.Hermes, `<tool_call>{"name": "add", "arguments": "{\"a\": 1, \"b\": 2}"}</tool_call>`, calls(addCall)},
		"HermesArgumentsOne": {toolcall.Hermes, `<tool_call>{"arguments": {"a": 1, "b": 2}, "name": "add"}</tool_call>`, calls(addCall)},
		"HermesMends":        {toolcall.Hermes, "<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": \"x\n\ty\", \"b\": [1, 2, ], }}</tool_call>", calls(`add({"a": "x\n\u0009y", "b": [1, 2]})`)},
		"HermesNested":       {toolcall.Hermes, `<tool_call>{"type": "function", "function": {"name": "now", "arguments": {}}}</tool_call>`, calls("now({})")},
		"HermesTags":         {toolcall.Hermes, `<tool_call>{"name": "add", "arguments": {"a": "</tool_call>\"}{"}}</tool_call>`, calls(`add({"a": "</tool_call>\"}{"})`)},
		"HermesUnknown":      {toolcall.Hermes, `So: <tool_call>{"name": "rm", "arguments": {}}</tool_call> ok`, answer{Text: `So: <tool_call>{"name": "rm", "arguments": {}}</tool_call> ok`}},
		"HermesEmpty":        {toolcall.Hermes, "a <tool_call></tool_call>", answer{Text: "a <tool_call></tool_call>"}},
		"HermesNoJSON":       {toolcall.Hermes, "<tool_call>{name: now}</tool_call>", answer{Text: "<tool_call>{name: now}</tool_call>"}},
		"HermesCut":          {toolcall.Hermes, `<tool_call>{"name": "add", "argu`, answer{Text: `<tool_call>{"name": "add", "argu`}},
		"HermesCutArguments": {toolcall.Hermes, `<tool_call>{"name": "add", "arguments": {"a": 1`, answer{Calls: []string{`add({"a": 1)`}}},
		"HermesBreaks":       {toolcall.Hermes, `<tool_call>{"name": "add", "arguments": {"a": oops}}</tool_call> x`, answer{Text: `}}</tool_call> x`, Calls: []string{`add({"a": oops)`}}},
		"HermesNoCall":       {toolcall.Hermes, "a < b, <tool is no call\n", answer{Text: "a < b, <tool is no call\n"}},
		"Coder": {toolcall.QwenCoder, "I look.\n<tool_call>\n<function=get_weather>\n<parameter=location>\nKöln\n</parameter>\n<parameter=days>\n2\n</parameter>\n<parameter=metric>\nTrue\n</parameter>\n<parameter=tags>\n[\"a\"]\n</parameter>\n</function>\n</tool_call>",
			answer{"I look.", []string{`get_weather({"location": "Köln", "days": 2, "metric": true, "tags": ["a"]})`}, true}},
		"CoderBare":   {toolcall.QwenCoder, "<function=now>\n</function>", calls("now({})")},
		"CoderText":   {toolcall.QwenCoder, "<tool_call><function=get_weather><parameter=location>\n\n12\n\n</parameter><parameter=days>many</parameter><parameter=other>null</parameter></function></tool_call>", calls(`get_weather({"location": "\n12\n", "days": "many", "other": null})`)},
		"CoderInner":  {toolcall.QwenCoder, "<tool_call><function=get_weather><parameter=location>\nends with </parameter> here, </parameter>\n</parameter>\n<parameter=days>2</parameter></function></tool_call>", calls(`get_weather({"location": "ends with </parameter> here, </parameter>", "days": 2})`)},
		"CoderOther":  {toolcall.QwenCoder, "<tool_call>\n<function=rm>\n</function>", answer{Text: "<tool_call>\n<function=rm>\n</function>"}},
		"Llama":       {toolcall.Llama, `{"name": "get_weather", "parameters": ` + weather + `}`, calls(weatherCall)},
		"LlamaTag":    {toolcall.Llama, `<|python_tag|>{"type": "function", "name": "get_weather", "parameters": ` + weather + `}; {"name": "now", "parameters": {}}`, calls(weatherCall, "now({})")},
		"LlamaAnswer": {toolcall.Llama, `{"name": "Bob", "age": 3}`, answer{Text: `{"name": "Bob", "age": 3}`}},
		"LlamaJSON":   {toolcall.Llama, ` {"age": 3}`, answer{Text: ` {"age": 3}`}},
		"LlamaText":   {toolcall.Llama, `Well, {"name": "now", "parameters": {}}`, answer{Text: `Well, {"name": "now", "parameters": {}}`}},
		"LlamaAfter":  {toolcall.Llama, `{"name": "now", "parameters": {}} done`, answer{"done", []string{"now({})"}, true}},
		"Pythonic":    {toolcall.Pythonic, `[get_weather(location='K\u00f6ln', days=2), now(), add(a=[True, None], b={"x": (-1.5e3, 'it\'s')})]`, calls(weatherCall, "now({})", `add({"a": [true, null], "b": {"x": [-1.5e3, "it's"]}})`)},
		"PythonicTag": {toolcall.Pythonic, "<|python_start|>[now()]<|python_end|>", calls("now({})")},
		"PythonicNo":  {toolcall.Pythonic, "[1, 2]", answer{Text: "[1, 2]"}},
		"PythonicCut": {toolcall.Pythonic, "[now(), add(a=1", answer{Text: "[now(), add(a=1"}},
		"PythonicBad": {toolcall.Pythonic, "[now(), add(a=f())]", answer{Text: "[now(), add(a=f())]"}},
		"MistralList": {toolcall.Mistral, `[TOOL_CALLS] [{"name": "get_weather", "arguments": ` + weather + `, "id": "abcdef123"}, {"name": "add", "arguments": {"a": 1, "b": 2}}]`, calls(weatherCall, addCall)},
		"MistralName": {toolcall.Mistral, `Hm [TOOL_CALLS]get_weather[ARGS]` + weather + `[TOOL_CALLS]add[CALL_ID]abcdef123[ARGS]{"a": 1, "b": 2}`, answer{"Hm", []string{weatherCall, addCall}, true}},
		"MistralBare": {toolcall.Mistral, `[TOOL_CALLS]add{"a": 1, "b": 2}`, calls(addCall)},
		"MistralNone": {toolcall.Mistral, `[TOOL_CALLS] []`, answer{Text: `[TOOL_CALLS] []`}},
		"DeepSeekR1": {toolcall.DeepSeek, "<think>\nx</think>Now<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n" + weather + "\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
			answer{"<think>\nx</think>Now", []string{weatherCall, "now({})"}, true}},
		"DeepSeek31":   {toolcall.DeepSeek, "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>" + weather + "<｜tool▁call▁end｜><｜tool▁call▁begin｜>now<｜tool▁sep｜><｜tool▁call▁end｜><｜tool▁calls▁end｜>", calls(weatherCall, "now({})")},
		"DeepSeekEnds": {toolcall.DeepSeek, "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜>", calls("now({})")},
		"Granite":      {toolcall.Granite, `<|tool_call|>[{"name": "get_weather", "arguments": ` + weather + `}, {"name": "now", "arguments": {}}]`, calls(weatherCall, "now({})")},
		"Phi":          {toolcall.Phi, `functools[{"name": "get_weather", "arguments": ` + weather + `}]`, calls(weatherCall)},
		"PhiWord":      {toolcall.Phi, `Use functools.cache.`, answer{Text: `Use functools.cache.`}},
		"GLM": {toolcall.GLM, "\n<think></think>\n<tool_call>get_weather\n<arg_key>location</arg_key>\n<arg_value>Köln</arg_value>\n<arg_key>days</arg_key>\n<arg_value>2</arg_value>\n</tool_call>\n<tool_call>now\n</tool_call>",
			answer{"\n<think></think>", []string{weatherCall, "now({})"}, true}},
		"Kimi":         {toolcall.Kimi, "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>" + weather + "<|tool_call_end|><|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>", calls(weatherCall, "now({})")},
		"Generic":      {toolcall.Generic, `{"name": "get_weather", "arguments": ` + weather + `}`, calls(weatherCall)},
		"GenericList":  {toolcall.Generic, `[{"name": "get_weather", "arguments": ` + weather + `}, {"name": "now"}]`, calls(weatherCall, "now({})")},
		"GenericFence": {toolcall.Generic, "```json\n[{\"name\": \"now\", \"arguments\": {}}]\n```", calls("now({})")},
		"GenericPlain": {toolcall.Generic, "```\n{\"name\": \"now\", \"arguments\": {}}\n```\n", calls("now({})")},
		"GenericCode":  {toolcall.Generic, "```python\nx\n```", answer{Text: "```python\nx\n```"}},
		"GenericText":  {toolcall.Generic, "It is 12.\n", answer{Text: "It is 12.\n"}},
		"GenericSpace": {toolcall.Generic, " \n", answer{Text: " \n"}},
	} {
		t.Run(name, func(t *testing.T) {
			list := parseTools(t)
			if d := cmp.Diff(c.want, parse(t, c.family, list, c.text)); d != "" {
				t.Fatalf("in one piece (-want +got):\n%s", d)
			}
			for i := range len(c.text) {
				if d := cmp.Diff(c.want, parse(t, c.family, list, c.text[:i], c.text[i:])); d != "" {
					t.Fatalf("split at %d (-want +got):\n%s", i, d)
				}
			}
			if d := cmp.Diff(c.want, parse(t, c.family, list, strings.Split(c.text, "")...)); d != "" {
				t.Fatalf("in single characters (-want +got):\n%s", d)
			}
		})
	}
}

// TestArgumentsStream checks that arguments do not wait for the end of the call.
func TestArgumentsStream(t *testing.T) {
	p := toolcall.NewParser(toolcall.Hermes, toolcall.Options{Tools: parseTools(t)})
	begin := p.Push(`Hi <tool_call>{"name": "add", "arguments": {"a": "x`)
	if len(begin) != 1 || begin[0].Text != "Hi" || len(begin[0].Calls) != 1 || begin[0].Calls[0].Function.Arguments != `{"a": "x` || begin[0].Calls[0].ID == "" {
		t.Fatalf("the begin is %+v", begin)
	}
	next := p.Push(`yz`)
	if len(next) != 1 || len(next[0].Calls) != 1 || next[0].Calls[0].Function.Arguments != "yz" || next[0].Calls[0].ID != "" {
		t.Errorf("the next piece is %+v", next)
	}
	if p.Called() {
		t.Error("the call counts before its end")
	}
}

// TestTextStreams checks that only what may be a tag waits.
func TestTextStreams(t *testing.T) {
	p := toolcall.NewParser(toolcall.Hermes, toolcall.Options{Tools: parseTools(t)})
	for _, c := range [][2]string{{"Hello", "Hello"}, {" world", " world"}, {" <tool", ""}, {"s>", " <tools>"}, {"\n", ""}, {"x", "\nx"}} {
		got := ""
		for _, piece := range p.Push(c[0]) {
			got += piece.Text
		}
		if got != c[1] {
			t.Errorf("after %q: got %q, want %q", c[0], got, c[1])
		}
	}
}

// TestSingle takes only the first call.
func TestSingle(t *testing.T) {
	p := toolcall.NewParser(toolcall.Granite, toolcall.Options{Tools: parseTools(t), Single: true})
	n := 0
	for _, piece := range append(p.Push(`<|tool_call|>[{"name": "now"}, {"name": "now"}] x`), p.Rest()...) {
		n += len(piece.Calls)
		if piece.Text != "" {
			t.Errorf("there is text: %q", piece.Text)
		}
	}
	if n != 1 || !p.Over() {
		t.Errorf("there are %d calls, over is %v", n, p.Over())
	}
}

// TestLimit makes text of calls that are too large, in every family.
func TestLimit(t *testing.T) {
	list := parseTools(t)
	junk := strings.Repeat("x", toolcall.MaxCall/8)
	for f, head := range map[toolcall.Family]string{
		toolcall.Hermes: `<tool_call>{"name": "`, toolcall.QwenCoder: "<tool_call><function=", toolcall.Llama: `{"name": "`, toolcall.Pythonic: `[add(a="`,
		toolcall.Mistral: `[TOOL_CALLS]`, toolcall.DeepSeek: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>", toolcall.Granite: `<|tool_call|>[{"type": "`,
		toolcall.Phi: `functools[{"type": "`, toolcall.GLM: "<tool_call>", toolcall.Kimi: "<|tool_calls_section_begin|><|tool_call_begin|>", toolcall.Generic: `{"id": "`,
	} {
		p := toolcall.NewParser(f, toolcall.Options{Tools: list})
		text := ""
		for _, piece := range p.Push(head) {
			text += piece.Text
		}
		for range 9 {
			for _, piece := range p.Push(junk) {
				text += piece.Text
			}
		}
		if len(text) < toolcall.MaxCall {
			t.Errorf("%s holds back more than %d bytes", f, toolcall.MaxCall)
		}
	}
	p := toolcall.NewParser(toolcall.Hermes, toolcall.Options{Tools: list})
	p.Push(`<tool_call>{"name": "add", "arguments": {"a": "`)
	text := ""
	for range 9 {
		for _, piece := range p.Push(junk) {
			text += piece.Text
		}
	}
	if text == "" {
		t.Error("arguments have no limit")
	}
}

// FuzzParser gives texts to all families: how a text is split changes nothing,
// and a text without calls comes out as it went in.
func FuzzParser(f *testing.F) {
	for _, text := range []string{
		"<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": [1, 2,], \"b\": \"\\u00e4\"}}</tool_call> x", "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>",
		`{"name": "now", "parameters": {}}; {"name": "now"}`, "[add(a=1, b='x'), now()]", "[TOOL_CALLS]now[ARGS]{}", `[TOOL_CALLS] [{"name": "now"}]`,
		"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		"<|tool_call|>[{\"name\": \"now\"}]", "functools[{\"name\": \"now\"}]", "<tool_call>now\n<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>",
		"<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|>", "```json\n{\"name\": \"now\"}\n```", "<think>a</think>b",
	} {
		for i := range toolcall.Families() {
			f.Add(uint8(i), text, uint16(7))
		}
	}
	list := parseTools(f)
	f.Fuzz(func(t *testing.T, family uint8, text string, at uint16) {
		all := toolcall.Families()
		fam := all[int(family)%len(all)]
		whole := parse(t, fam, list, text)
		i := int(at) % (len(text) + 1)
		if d := cmp.Diff(whole, parse(t, fam, list, text[:i], text[i:])); d != "" {
			t.Fatalf("%s: split at %d (-whole +split):\n%s", fam, i, d)
		}
		bytes := make([]string, len(text))
		for i := range len(text) {
			bytes[i] = text[i : i+1]
		}
		if d := cmp.Diff(whole, parse(t, fam, list, bytes...)); d != "" {
			t.Fatalf("%s: in bytes (-whole +split):\n%s", fam, d)
		}
		if len(whole.Calls) == 0 && whole.Text != text {
			t.Fatalf("%s: got %q, want %q", fam, whole.Text, text)
		}
		if !whole.Called {
			return
		}
		valid := 0
		for _, c := range whole.Calls {
			_, args, _ := strings.Cut(c, "(")
			if json.Valid([]byte(strings.TrimSuffix(args, ")"))) {
				valid++
			}
		}
		if valid == 0 {
			t.Fatalf("%s: no call has arguments: %q", fam, whole.Calls)
		}
	})
}

// BenchmarkParser is the cost of the parser for each token: of an answer without
// calls, and of one with.
func BenchmarkParser(b *testing.B) {
	list := parseTools(b)
	for name, text := range map[string]string{
		"Text": strings.Repeat("The weather in Köln is fine today, and the wind comes from the west. ", 60),
		"Call": "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": \"" + strings.Repeat("some words of an argument ", 150) + "\"}}\n</tool_call>",
	} {
		var tokens []string
		for i := 0; i < len(text); i += 4 {
			tokens = append(tokens, text[i:min(i+4, len(text))])
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				p := toolcall.NewParser(toolcall.Hermes, toolcall.Options{Tools: list})
				for _, token := range tokens {
					p.Push(token)
				}
				p.Rest()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(tokens)), "ns/token")
		})
	}
}
