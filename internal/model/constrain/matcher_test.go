package constrain_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gorizond/koldun/internal/model/constrain"
)

// vocabulary has all bytes, and longer tokens that cross the parts of JSON.
func vocabulary() ([]constrain.Token, *constrain.Vocabulary) {
	tokens := []constrain.Token{{Text: "<s>", Kind: constrain.Unused}, {Text: "</s>", Kind: constrain.End}, {Text: "<tool_call>", Kind: constrain.Control}, {}}
	for b := range 256 {
		tokens = append(tokens, constrain.Token{Text: string([]byte{byte(b)})})
	}
	for _, text := range strings.Fields(`{" ": ", "," "} ]} }} "}, ": true false null 12 2024 -1 0. .5 e1 al pha a" b":1 \" \n \u00 \ud83d\ude00 é éa" [1,2 [] {} {"a": [[ ]] 🧙 <tool_call> tool ","b`) {
		tokens = append(tokens, constrain.Token{Text: text})
	}
	tokens = append(tokens, constrain.Token{Text: ", "}, constrain.Token{Text: "\n  "}, constrain.Token{Text: `": "`}, constrain.Token{Text: "a"})
	for _, text := range strings.Fields(`error warn or erra ABC Abc aZ9 9-a été éa1 Ünï 12:30 a-b a.b x@y.z foo_bar ab" a": .." \u202 \\"a`) {
		tokens = append(tokens, constrain.Token{Text: text}, constrain.Token{Text: " " + text})
	}
	return tokens, constrain.NewVocabulary(tokens)
}

// write lets chance write an answer, or reports that it takes too long. It compares
// masks with what the grammar says of each token, and with those of a vocabulary that
// has trees by kinds of all tokens.
func write(t testing.TB, g *constrain.Grammar, random *rand.Rand) (string, bool) {
	tokens, v := vocabulary()
	m, detailed := constrain.NewMatcher(t.Context(), g, v), constrain.NewMatcher(t.Context(), g, constrain.NewDetailedVocabulary(tokens))
	var text strings.Builder
	for step := range 400 {
		mask, err := m.Mask()
		if err != nil && strings.Contains(err.Error(), "too many ways") {
			return "", false
		}
		if err != nil {
			t.Fatalf("after %q: %v", text.String(), err)
		}
		if other, err := detailed.Mask(); err == nil && !slices.Equal(mask, other) {
			t.Fatalf("after %q: the masks of two vocabularies are %x and %x", text.String(), mask, other)
		}
		var allowed []int
		for id := range tokens {
			if mask[id/64]>>(id%64)&1 == 1 {
				allowed = append(allowed, id)
			}
		}
		if step%8 == 0 {
			checkMask(t, m, tokens, mask)
		}
		id := allowed[random.IntN(len(allowed))]
		if step > 20 { // close what is open
			for _, hint := range []string{"</s>", "}", "]", `"`, "n", "0", "1"} {
				if i := slices.IndexFunc(allowed, func(id int) bool { return tokens[id].Text == hint }); i >= 0 && random.IntN(4) > 0 {
					id = allowed[i]
					break
				}
			}
		}
		if err := errors.Join(m.Advance(id), detailed.Advance(id)); err != nil {
			t.Fatalf("after %q: %v", text.String(), err)
		}
		if tokens[id].Kind == constrain.End {
			return text.String(), true
		}
		text.WriteString(tokens[id].Text)
	}
	return "", false
}

// checkMask asks for each token apart.
func checkMask(t testing.TB, m *constrain.Matcher, tokens []constrain.Token, mask constrain.Set) {
	t.Helper()
	for id, tok := range tokens {
		got := mask[id/64]>>(id%64)&1 == 1
		if want := m.Allows(id); got != want {
			t.Fatalf("token %d %q is in the mask: %t, may follow: %t", id, tok.Text, got, want)
		}
	}
}

func maskOf(t testing.TB, m *constrain.Matcher) constrain.Set {
	t.Helper()
	mask, err := m.Mask()
	if err != nil {
		t.Fatal(err)
	}
	return mask
}

func compile(t testing.TB, schema string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAnswersFulfilSchemas compares with another implementation of JSON Schema.
func TestAnswersFulfilSchemas(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	complete := 0
	for range 300 {
		schema := randomSchema(random)
		g, err := constrain.Schema(t.Context(), []byte(schema))
		if err != nil {
			if strings.Contains(err.Error(), "no value of finite length") || strings.Contains(err.Error(), "refers to itself") {
				continue
			}
			t.Fatalf("%s: %v", schema, err)
		}
		oracle := compile(t, schema)
		for range 3 {
			text, ok := write(t, g, random)
			if !ok {
				continue
			}
			complete++
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatalf("%s: %s: %v", schema, text, err)
			}
			if err := oracle.Validate(value); err != nil {
				t.Fatalf("%s: %s: %v", schema, text, err)
			}
		}
	}
	if complete < 500 {
		t.Errorf("only %d answers came to their end", complete)
	}
	t.Logf("%d answers", complete)
}

// TestLargeVocabulary compares masks with what the grammar says of each token.
func TestLargeVocabulary(t *testing.T) {
	tokens := largeVocabulary()
	ids := idsOf(tokens)
	v := constrain.NewVocabulary(tokens)
	for _, c := range shapes {
		g := grammarOf(t, c.schema)
		m := constrain.NewMatcher(t.Context(), g, v)
		for i, id := range encode(ids, c.answer) {
			if mask := maskOf(t, m); i%9 == 4 {
				checkMask(t, m, tokens, mask)
			}
			if err := m.Advance(id); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
	}
}

// randomSchema returns a schema whose definitions refer to each other.
func randomSchema(random *rand.Rand) string {
	defs := map[string]any{}
	for _, name := range []string{"a", "b"} {
		defs[name] = randomType(random, 2)
	}
	root := randomType(random, 3)
	root["$defs"] = defs
	text, _ := json.Marshal(root)
	return string(text)
}

func randomType(random *rand.Rand, depth int) map[string]any {
	pick := random.IntN(15)
	if depth == 0 {
		pick = 5 + random.IntN(9)
	}
	switch pick {
	case 0, 1, 2:
		properties, required := map[string]any{}, []string{}
		for _, name := range []string{"x", `q"\`, "é", "name"}[:random.IntN(5)] {
			properties[name] = randomType(random, depth-1)
			if random.IntN(3) > 0 {
				required = append(required, name)
			}
		}
		return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	case 3:
		s := map[string]any{"type": "array", "items": randomType(random, depth-1)}
		if least := random.IntN(4); least > 0 {
			s["minItems"] = least
		}
		if random.IntN(2) == 0 {
			s["maxItems"] = 3 + random.IntN(3)
		}
		if random.IntN(3) == 0 {
			s["prefixItems"] = []any{randomType(random, depth-1)}
		}
		return s
	case 4:
		return map[string]any{"anyOf": []any{randomType(random, depth-1), randomType(random, depth-1)}}
	case 5:
		return map[string]any{"type": []string{"string", "null"}}
	case 6:
		lo := random.IntN(2000) - 1000
		return map[string]any{"type": "integer", "minimum": lo, "maximum": lo + random.IntN(500)}
	case 7:
		lo := float64(random.IntN(4000)-2000) / 16
		s := map[string]any{"type": "number"}
		s[[]string{"minimum", "exclusiveMinimum"}[random.IntN(2)]] = lo
		if random.IntN(2) == 0 {
			s[[]string{"maximum", "exclusiveMaximum"}[random.IntN(2)]] = lo + float64(1+random.IntN(100))/8
		}
		return s
	case 8:
		return map[string]any{"enum": []any{"red", 1, nil, map[string]any{"k": []int{1}}, 2.5, true}}
	case 9:
		return map[string]any{"type": "string", "pattern": []string{`^[a-z]{2,4}$`, `^(é|"|\\|\n)+$`, `x`, `^\d+(\.\d+)?$`, `^[^"a]*b`, `(?i)^straße$`, `(error|warn)`, `^.{2,9}$`, `^\p{Lu}[\p{L} ]*$`, `[A-Z]+-[0-9]+`}[random.IntN(10)]}
	case 10:
		return map[string]any{"type": "string", "format": formats[random.IntN(len(formats))]}
	case 11:
		return map[string]any{"type": []string{"number", "boolean"}}
	case 12:
		return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "integer"}}
	case 13:
		return map[string]any{"const": fmt.Sprint("c", random.IntN(9))}
	}
	return map[string]any{"$ref": "#/$defs/" + string("ab"[random.IntN(2)])}
}

var formats = []string{"date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

// TestAmbiguous has an exponential number of ways to read an answer.
func TestAmbiguous(t *testing.T) {
	g, err := constrain.Schema(t.Context(), []byte(`{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[
		{"type":"null"},
		{"type":"object","properties":{"n":{"$ref":"#/$defs/n"},"x":{"type":"integer"}},"required":["n"]},
		{"type":"object","properties":{"n":{"$ref":"#/$defs/n"},"y":{"type":"integer"}},"required":["n"]}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	const deep = 2000
	if !g.Accepts(strings.Repeat(`{"n":`, deep) + "null" + strings.Repeat(`}`, deep)) {
		t.Error("the value is refused")
	}
}

// TestTooMuchWork has a number of states beyond all limits.
func TestTooMuchWork(t *testing.T) {
	g, err := constrain.Schema(t.Context(), []byte(`{"type":"string","pattern":"(a|b)*a.{0,300}[cd].{0,300}e"}`))
	if err != nil {
		t.Fatal(err)
	}
	tokens := largeVocabulary()
	m := constrain.NewMatcher(t.Context(), g, constrain.NewVocabulary(tokens))
	for step := 0; ; step++ {
		if _, err := m.Mask(); err != nil {
			if !strings.Contains(err.Error(), "too many ways") {
				t.Error(err)
			}
			return
		}
		if step > 300 || m.Advance(slices.IndexFunc(tokens, func(t constrain.Token) bool { return t.Text == string(`"aabacad`[step%8]) })) != nil {
			t.Fatal("the limit did not come")
		}
	}
}

func TestControlTokens(t *testing.T) {
	tokens, v := vocabulary()
	g, err := constrain.Calls(t.Context(), "<tool_call>", []constrain.Call{{Name: "f", Begin: `["f",`, Schema: []byte(`{"type":"string"}`), End: "]"}}, "", "", 1)
	if err != nil {
		t.Fatal(err)
	}
	m := constrain.NewMatcher(t.Context(), g, v)
	const control = 2
	if mask := maskOf(t, m); mask[0]>>control&1 != 1 {
		t.Fatal("the control token cannot write the prefix")
	}
	if err := m.Advance(control); err != nil {
		t.Fatal(err)
	}
	for _, c := range `["f","` {
		if mask := maskOf(t, m); mask[0]>>control&1 == 1 {
			t.Error("the control token may stand inside of a call")
		}
		if err := m.Advance(slices.IndexFunc(tokens, func(t constrain.Token) bool { return t.Text == string(c) })); err != nil {
			t.Fatal(err)
		}
	}
	if mask := maskOf(t, m); mask[0]>>control&1 == 1 || m.Advance(control) == nil {
		t.Error("the control token may stand in an argument")
	}
	if m.Ends() || m.Advance(1) == nil {
		t.Error("the answer may end within a call")
	}
	for _, c := range `"]` {
		if err := m.Advance(slices.IndexFunc(tokens, func(t constrain.Token) bool { return t.Text == string(c) })); err != nil {
			t.Fatal(err)
		}
	}
	if mask := maskOf(t, m); !m.Ends() || mask[0] != 2 {
		t.Errorf("after the call the mask is %x", mask)
	}
	if err := m.Advance(1); err != nil {
		t.Error(err)
	}
	if m.Advance(1) == nil || maskOf(t, m)[0] != 0 {
		t.Error("the answer goes on after its end")
	}
}

// TestVocabularyWithoutQuotes cannot write a string: the mask says so.
func TestVocabularyWithoutQuotes(t *testing.T) {
	g, err := constrain.Schema(t.Context(), []byte(`{"type":"string"}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = constrain.NewMatcher(t.Context(), g, constrain.NewVocabulary([]constrain.Token{{Text: "a"}})).Mask()
	if err == nil || !strings.Contains(err.Error(), "no token that can follow") {
		t.Errorf("err = %v", err)
	}
}
