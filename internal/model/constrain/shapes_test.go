package constrain_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/model/constrain"
)

// shapes are schemas of the usual shapes, with an answer each. Without a schema, it is
// any object.
var shapes = []struct{ name, schema, answer string }{
	{
		"Objects",
		`{"type":"object","properties":{"title":{"type":"string"},"kind":{"enum":["recipe","article","message"]},"rating":{"type":"number","minimum":0,"maximum":5},
		"servings":{"type":"integer"},"steps":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"minutes":{"type":["integer","null"]}},
		"required":["text","minutes"],"additionalProperties":false}},"tags":{"type":"array","items":{"type":"string"}}},
		"required":["title","kind","rating","servings","steps","tags"],"additionalProperties":false}`,
		`{"title": "Pancakes with a lot of butter and jam", "kind": "recipe", "rating": 4.5, "servings": 12, "steps": [{"text": "Mix flour, milk and eggs in a large bowl.", "minutes": 5},` +
			` {"text": "Let it rest; then heat \"real\" butter in a pan.", "minutes": null}, {"text": "Fry each one for two minutes per side.", "minutes": 20}], "tags": ["sweet", "quick", "für Kinder", "朝食"]}`,
	},
	{
		"AnyObject",
		``,
		`{"name": "Ada Lovelace", "born": 1815, "fields": ["mathematics", "computing"], "links": {"home": "https://example.com/ada", "more": [1, 2.5, true, null]}, "note": "first program, for the Analytical Engine"}`,
	},
	{
		"Recursive",
		`{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"op":{"enum":["add","mul","num"]},"value":{"type":["number","null"]},
		"args":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["op","value","args"],"additionalProperties":false}}}`,
		`{"op":"add","value":null,"args":[{"op":"num","value":1,"args":[]},{"op":"mul","value":null,"args":[{"op":"num","value":2.5,"args":[]},{"op":"num","value":-3,"args":[]}]}]}`,
	},
	{
		"Patterns",
		`{"type":"object","properties":{"id":{"type":"string","format":"uuid"},"at":{"type":"string","format":"date-time"},"code":{"type":"string","pattern":"^[A-Z]{2}-[0-9]+$"},
		"words":{"type":"string","pattern":"^[a-z ]+$"}},"required":["id","at","code","words"],"additionalProperties":false}`,
		`{"id": "123e4567-e89b-12d3-a456-426614174000", "at": "2024-02-29T12:30:00Z", "code": "AB-123456", "words": "some words in lower case with blanks between them and no end of them"}`,
	},
	{
		"Addresses",
		`{"type":"object","properties":{"mail":{"type":"string","format":"email"},"host":{"type":"string","format":"hostname"},"ip":{"type":"string","format":"ipv4"},"ip6":{"type":"string","format":"ipv6"},
		"page":{"type":"string","pattern":"^https?://[a-z0-9.-]+\\.(com|org|net)(/[A-Za-z0-9._~-]*)*$"},"took":{"type":"string","format":"duration"}},
		"required":["mail","host","ip","ip6","page","took"],"additionalProperties":false}`,
		`{"mail": "ada.lovelace+engine@analytical.example.org", "host": "first-engine.london.example.com", "ip": "192.168.10.254", "ip6": "2001:db8:85a3::8a2e:370:7334", "page": "https://www.example.org/notes/translator/Note-G", "took": "P3DT4H30M"}`,
	},
	{
		"Lengths",
		`{"type":"object","properties":{"name":{"type":"string","pattern":"^[A-Za-z][A-Za-z0-9_]{2,30}$"},"summary":{"type":"string","pattern":"^.{10,120}$"},"note":{"type":"string","pattern":"^\\p{Lu}[\\p{L}\\p{N} ,.]*$"}},
		"required":["name","summary","note"],"additionalProperties":false}`,
		`{"name": "analytical_engine_of_1837", "summary": "A machine that computes what its cards describe, with a store, a mill and a printer.", "note": "Für Ada, 1843 in London. With the tables of Bernoulli, as first program."}`,
	},
	{
		"Contained",
		`{"type":"object","properties":{"ticket":{"type":"string","pattern":"[A-Z]+-[0-9]+"},"text":{"type":"string","pattern":"(error|warning)"}},"required":["ticket","text"],"additionalProperties":false}`,
		`{"ticket": "see ticket ABC-1234 of last week", "text": "The compiler of the project wrote a warning about the name of a variable."}`,
	},
}

// grammarOf returns the grammar of a schema; that of any object without one.
func grammarOf(t testing.TB, schema string) *constrain.Grammar {
	if schema == "" {
		return constrain.Object()
	}
	g, err := constrain.Schema(t.Context(), []byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	return g
}
