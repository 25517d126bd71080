package constrain_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/model/constrain"
)

func TestSchema(t *testing.T) {
	cases := map[string]struct {
		schema   string
		yes, not []string
	}{
		"String":       {`{"type":"string"}`, []string{`""`, `"a\n\u00e9\ud83d\ude00é🧙"`}, []string{`"`, `"a`, "\"\n\"", `"\ud83d"`, `"\x"`, "\"\xff\"", `1`, `"a" `}},
		"Number":       {`{"type":"number"}`, []string{"0", "-1.50", "1e9", "2E-3"}, []string{"01", "-", "1.", ".5", "1e", "+1", "1e999"}},
		"Integer":      {`{"type":"integer"}`, []string{"0", "-12", "999999999999999999"}, []string{"1.0", "1e2", "1000000000000000000"}},
		"Boolean":      {`{"type":"boolean"}`, []string{"true", "false"}, []string{"null", "tru", "True"}},
		"Null":         {`{"type":"null"}`, []string{"null"}, []string{"0", ""}},
		"Union":        {`{"type":["string","null"]}`, []string{"null", `"x"`}, []string{"1"}},
		"Enum":         {`{"type":"string","enum":["red","re","Ü\"<"]}`, []string{`"red"`, `"re"`, `"Ü\"<"`}, []string{`"r"`, `"redd"`, `"Ü\u0022<"`}},
		"EnumOfType":   {`{"type":"integer","enum":[1,"a",2.5,30]}`, []string{"1", "30"}, []string{`"a"`, "2.5", "3"}},
		"Const":        {`{"const":{"a":[1,null,{}],"b":true}}`, []string{`{"a":[1,null,{}],"b":true}`}, []string{`{"b":true,"a":[1,null,{}]}`, `{}`}},
		"Object":       {`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"null"}},"required":["a","b"],"additionalProperties":false}`, []string{`{"a":1,"b":null}`, `{"a": 1, "b": null}`, "{\n  \"a\": 1,\n  \"b\": null\n}"}, []string{`{"b":null,"a":1}`, `{"a":1}`, `{}`, `{"a":1,"b":null,"c":1}`, `{"a":1 ,"b":null}`, "{\n\n\"a\":1,\"b\":null}"}},
		"Optional":     {`{"properties":{"a":{},"b":{"type":"null"},"c":{"type":"null"}},"required":["b"]}`, []string{`{"b":null}`, `{"a":1,"b":null}`, `{"b":null,"c":null}`, `{"a":{},"b":null,"c":null}`}, []string{`{}`, `{"a":1}`, `{,"b":null}`, `{"a":1,"c":null}`}},
		"AllOptional":  {`{"properties":{"a":{"type":"null"},"b":{"type":"null"}}}`, []string{`{}`, `{"a":null}`, `{"b":null}`, `{"a":null,"b":null}`}, []string{`{,}`, `{"a":null,}`}},
		"NoProperties": {`{"type":"object","properties":{}}`, []string{`{}`}, []string{`{"a":1}`}},
		"AnyObject":    {`{"type":"object"}`, []string{`{}`, `{"a":{"b":[1,"c",null]}}`}, []string{`[]`, `{"a"}`, `{a:1}`}},
		"Map":          {`{"type":"object","additionalProperties":{"type":"integer"}}`, []string{`{}`, `{"x":1,"y":2}`}, []string{`{"x":"y"}`}},
		"RequiredOnly": {`{"type":"object","required":["a"],"additionalProperties":{"type":"integer"}}`, []string{`{"a":1}`}, []string{`{}`, `{"a":""}`}},
		"Array":        {`{"type":"array","items":{"type":"integer"}}`, []string{`[]`, `[1]`, `[1, 2,3]`}, []string{`[1,]`, `[,]`, `["a"]`, `[1 2]`}},
		"AnyArray":     {`{"type":"array"}`, []string{`[]`, `[1,"a",[]]`}, []string{`{}`}},
		"NotEmpty":     {`{"type":"array","items":{"type":"integer"},"minItems":1}`, []string{`[1]`, `[ 1,2]`}, []string{`[]`}},
		"MinItems":     {`{"type":"array","items":{"type":"integer"},"minItems":3}`, []string{`[1,2,3]`, `[1,2,3,4,5]`}, []string{`[]`, `[1,2]`}},
		"MaxItems":     {`{"type":"array","items":{"type":"integer"},"maxItems":2}`, []string{`[]`, `[1]`, `[1,2]`}, []string{`[1,2,3]`}},
		"Counted":      {`{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":3}`, []string{`[1,2]`, `[1,2,3]`}, []string{`[]`, `[1]`, `[1,2,3,4]`}},
		"None":         {`{"type":"array","maxItems":0}`, []string{`[]`}, []string{`[1]`}},
		"Tuple":        {`{"type":"array","prefixItems":[{"type":"integer"},{"type":"null"}],"items":false,"minItems":2}`, []string{`[1,null]`}, []string{`[1]`, `[1,null,1]`, `[null,1]`}},
		"TupleAndMore": {`{"prefixItems":[{"type":"integer"}],"items":{"type":"null"}}`, []string{`[]`, `[1]`, `[1,null,null]`}, []string{`[null]`, `[1,1]`}},
		"AnyOf":        {`{"anyOf":[{"type":"integer"},{"type":"object","properties":{"a":{"type":"null"}},"required":["a"]}]}`, []string{"3", `{"a":null}`}, []string{`"a"`, `{}`}},
		"Defs":         {`{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"integer"}}}`, []string{"1"}, []string{"null"}},
		"Recursive":    {`{"type":"object","properties":{"v":{"type":"integer"},"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["v","next"]}`, []string{`{"v":1,"next":null}`, `{"v":1,"next":{"v":2,"next":{"v":3,"next":null}}}`}, []string{`{"v":1}`, `{"v":1,"next":{}}`}},
		"Anything":     {`true`, []string{"1", `{"a":[]}`}, []string{""}},
		"Range":        {`{"type":"integer","minimum":-5,"exclusiveMaximum":112}`, []string{"-5", "0", "9", "99", "111"}, []string{"-6", "112", "200", "-10", "00", "-0"}},
		"Decimals":     {`{"type":"number","minimum":0.25,"maximum":10.5}`, []string{"0.25", "0.3", "1", "9.99", "10.5", "10.50", "10"}, []string{"0.2", "0", "10.51", "11", "-1", "0.249", "1e0"}},
		"Open":         {`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`, []string{"0.1", "0.001", "0.999"}, []string{"0", "1", "0.0", "1.0"}},
		"Negative":     {`{"type":"number","maximum":-2.5}`, []string{"-2.5", "-3", "-100.25"}, []string{"-2.4", "0", "2.5", "-2"}},
		"Steps":        {`{"type":"number","multipleOf":0.01,"minimum":0}`, []string{"0.01", "3", "12.5"}, []string{"0.001", "-1"}},
		"Pattern":      {`{"type":"string","pattern":"^a[\"\\\\\\u00e4-\\u00ff]+$"}`, []string{`"aä"`, `"a\"\\ÿ"`}, []string{`"a"`, `"ba"`, `"aäb"`, `"aa"`}},
		"PartPattern":  {`{"type":"string","pattern":"b(c|$)|^z"}`, []string{`"abcd"`, `"xb"`, `"zq"`}, []string{`"a"`, `"bd"`, `"az"`}},
		"Format":       {`{"type":"string","format":"date"}`, []string{`"2024-02-29"`, `"1999-12-31"`}, []string{`"2023-02-29"`, `"2024-13-01"`, `"2024-1-1"`}},
		"Annotations":  {`{"title":"a","description":"b","default":1,"x-y":{},"type":"null"}`, []string{"null"}, []string{"1"}},
		"OtherTypes":   {`{"type":"null","pattern":"a"}`, []string{"null"}, []string{"1"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g, err := constrain.Schema(t.Context(), []byte(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range c.yes {
				if !g.Accepts(text) {
					t.Errorf("%s is refused", text)
				}
			}
			for _, text := range c.not {
				if g.Accepts(text) {
					t.Errorf("%s is accepted", text)
				}
			}
		})
	}
}

func TestSchemaRefuses(t *testing.T) {
	for schema, want := range map[string]string{
		`{"allOf":[{}]}`: `"#/allOf": "allOf" is not supported`,
		`{"type":"object","properties":{"a/b":{"type":"string","minLength":1}}}`:             `"#/properties/a~1b/minLength": "minLength" is not supported`,
		`{"type":"string","format":"uri"}`:                                                   `"#/format": the format is not supported`,
		`{"type":"string","format":"date","pattern":"a"}`:                                    `cannot stand beside`,
		`{"type":"string","pattern":"(?=a)"}`:                                                `"#/pattern": error parsing`,
		`{"type":"string","pattern":"\\bx"}`:                                                 `only ^ and $ are supported`,
		`{"type":"string","pattern":"(a{900}){900}"}`:                                        `"#/pattern"`,
		`{"type":"string","pattern":"\\p{L}{1000}"}`:                                         `"#/pattern": it needs more than 100000 states`,
		`{"type":"string","pattern":"` + strings.Repeat("a", 1025) + `"}`:                    `"#/pattern": it has 1025 bytes, want at most 1024`,
		`{"anyOf":[` + patterns(17, `[%s]`+strings.Repeat("a", 1000)) + `]}`:                 `"#/anyOf/16/pattern": the patterns of the schema have more than 16384 bytes`,
		`{"properties":{` + properties(6000) + `}}`:                                          `it needs more than 100000 states`,
		`{"type":"string","pattern":"a^"}`:                                                   `no value of finite length`,
		`{"type":"array","uniqueItems":true}`:                                                `"uniqueItems" is not supported`,
		`{"type":"array","minItems":3,"maxItems":2}`:                                         `at least 3 and at most 2`,
		`{"type":"array","minItems":-1}`:                                                     `"#/minItems": it must be an integer`,
		`{"type":"array","items":{"type":"array","items":{"type":"null"},"minItems":90000}}`: `more than 100000 states`,
		`{"type":"number","multipleOf":3}`:                                                   `"#/multipleOf": only 1, 0.1`,
		`{"type":"number","minimum":1e99}`:                                                   `"#/minimum": it must be a number of at most 18 digits`,
		`{"type":"integer","minimum":3,"maximum":2}`:                                         `no value of finite length`,
		`{"type":"object","required":["a"],"properties":{},"additionalProperties":false}`:    `there is no property "a"`,
		`{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}`:                 `no value of finite length`,
		`{"$ref":"#"}`: `no value of finite length`,
		`{"anyOf":[{"$ref":"#"},{"type":"null"}]}`:              `refers to itself`,
		`{"$ref":"#/$defs/x"}`:                                  `"#/$ref": there is nothing`,
		`{"$ref":"http://example.com"}`:                         `is not a JSON pointer`,
		`{"$ref":"#/$defs/x","$defs":{"x":true},"type":"null"}`: `"type" cannot stand beside "$ref"`,
		`{"anyOf":[]}`: `"#/anyOf": it must be an array`,
		`{"anyOf":[{"type":"null"},{"properties":{"q":{"not":{}}}}]}`: `"#/anyOf/1/properties/q/not": "not" is not supported`,
		`{"enum":[]}`:                    `"#/enum"`,
		`{"type":"null","enum":["a"]}`:   `no value has the type`,
		`{"type":"text"}`:                `"#/type": it must be one or several of`,
		`false`:                          `it must be an object or true`,
		`[]`:                             `it must be an object or true, not array`,
		`{"type":"null","type":"null"}`:  `two members "type"`,
		`{"type":`:                       `it is not valid JSON: EOF`,
		strings.Repeat(`{"items":`, 100): `the nesting is more than 64 levels`,
		`{"title":"` + strings.Repeat("a", 300<<10) + `"}`: `it has 307212 bytes, want at most 262144`,
	} {
		_, err := constrain.Schema(t.Context(), []byte(schema))
		var e *constrain.SchemaError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: err = %v, want %q", schema, err, want)
		}
	}
}

// patterns are the schemas of so many patterns, each with a letter of its own.
func patterns(n int, format string) string {
	var all []string
	for i := range n {
		all = append(all, `{"type":"string","pattern":"`+fmt.Sprintf(format, string(rune('a'+i)))+`"}`)
	}
	return strings.Join(all, ",")
}

// properties are so many, none of them required.
func properties(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"property%d":{"type":"null"}`, i))
	}
	return strings.Join(all, ",")
}

// TestDeepReferences compiles chains of references, whose nesting has no limit.
func TestDeepReferences(t *testing.T) {
	const deep = 3000
	var all []string
	for i := range deep {
		all = append(all, fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, min(i+2, deep)))
	}
	g, err := constrain.Schema(t.Context(), []byte(`{"$ref":"#/$defs/d0","$defs":{`+strings.Join(all, ",")+fmt.Sprintf(`,"d%d":{"type":"null"}}}`, deep)))
	if err != nil {
		t.Fatal(err)
	}
	if !g.Accepts("null") || g.Accepts("true") {
		t.Error("the value at the end of the references is not the only one")
	}
}

func TestObject(t *testing.T) {
	g := constrain.Object()
	for text, want := range map[string]bool{
		`{}`: true, `{"a": [true, {"b": "c"}, -1.5e3]}`: true, "{\n    \"a\": null\n}": true,
		`[]`: false, `{} `: false, ` {}`: false, `{"a":1`: false, "": false,
	} {
		if got := g.Accepts(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func TestCalls(t *testing.T) {
	begin := func(name string) string { return "<tool_call>\n{\"name\": \"" + name + `", "arguments": ` }
	calls := []constrain.Call{
		{Name: "f", Begin: begin("f"), Schema: []byte(`{"type":"object","properties":{"x":{"$ref":"#/$defs/n"}},"required":["x"],"$defs":{"n":{"type":"integer"}}}`), End: "}\n</tool_call>"},
		{Name: "g", Begin: begin("g"), End: "}\n</tool_call>"},
	}
	g, err := constrain.Calls(t.Context(), "", calls, "\n", "", 2)
	if err != nil {
		t.Fatal(err)
	}
	f, none := begin("f")+`{"x": 1}}`+"\n</tool_call>", begin("g")+"{}}\n</tool_call>"
	for text, want := range map[string]bool{
		f: true, none: true, f + "\n" + none: true, f + "\n" + f + "\n" + f: false, f + "\n": false, "": false,
		begin("f") + `{"x": ""}}` + "\n</tool_call>": false, begin("g") + `{"x": 1}}` + "\n</tool_call>": false,
	} {
		if got := g.Accepts(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	calls[0].Schema = []byte(`{"not":{}}`)
	if _, err := constrain.Calls(t.Context(), "", calls, "", "", 1); err == nil || !strings.Contains(err.Error(), `tool "f"`) || !strings.Contains(err.Error(), "#/not") {
		t.Error(err)
	}
	if _, err := constrain.Calls(t.Context(), "", nil, "", "", 1); err == nil {
		t.Error("no error without tools")
	}
}

func TestAfterThoughts(t *testing.T) {
	g, err := constrain.Object().AfterThoughts()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"I think.\n</think>\n\n{}": true, "</think>{}": true, "a </thin <</think>{\"a\":1}": true, "\xff</think>{}": true,
		"{}": false, "</think>": false, "</think>\n\n\n{}": false, "</think> {}": false, "</think>x</think>{}": false,
	} {
		if got := g.Accepts(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func TestEither(t *testing.T) {
	schema := func(text string) *constrain.Grammar {
		g, err := constrain.Schema(t.Context(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	g := schema(`{"type":"array","items":{"$ref":"#/$defs/a"},"$defs":{"a":{"enum":["a"]}}}`)
	for _, other := range []string{`{"type":"array","items":{"$ref":"#/$defs/b"},"$defs":{"b":{"enum":["b"]}}}`, `{"type":"object"}`} {
		var err error
		if g, err = constrain.Either(t.Context(), g, schema(other)); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]bool{`["a","a"]`: true, `["b"]`: true, `{"c":[1]}`: true, `[]`: true, `["a","b"]`: false, `["c"]`: false, `1`: false} {
		if got := g.Accepts(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
