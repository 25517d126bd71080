package constrain_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/constrain"
)

// largeVocabulary has 128,256 tokens like those of Llama 3: bytes, words with and
// without a blank, numbers up to 999, white space, punctuation as in code, and
// other scripts.
func largeVocabulary() []constrain.Token {
	random := rand.New(rand.NewPCG(3, 4))
	seen := map[string]bool{}
	var tokens []constrain.Token
	add := func(text string) {
		if !seen[text] && text != "" {
			seen[text] = true
			tokens = append(tokens, constrain.Token{Text: text})
		}
	}
	for b := range 256 {
		add(string([]byte{byte(b)}))
	}
	for n := range 1000 {
		add(fmt.Sprint(n))
		add(fmt.Sprintf("%03d", n))
	}
	for n := range 80 {
		add(strings.Repeat(" ", n))
		add("\n" + strings.Repeat(" ", n))
		add("\n" + strings.Repeat("\t", n%12))
	}
	marks := []string{`"`, `",`, `":`, `"}`, `{"`, `["`, `"]`, `,"`, `":"`, `","`, `"},`, `"],`, `":{"`, `":["`, ": ", ", ", "}", "},", "}}", "]", "],", "[]", "{}", "[", "{", `\"`, `\n`, `\\`, ".", ".\"", "!\"", "?\"", ")\"", "':", "=\"", "\">", "</", "/>", "();", "//", "/*", "&&", "||", "->", "=>"}
	for _, a := range marks {
		add(a)
		add(" " + a)
		add(a + "\n")
		for _, b := range marks {
			add(a + b)
		}
	}
	syllables := strings.Fields("a an ar be ca co con da de di do e el en er es fe fi for ga ge gra ha he hi i in ing ion is ka ke la le li lo ma me men mi mo na ne ni no o on or pa pe per po pre pro qu ra re ri ro s sa se ser si so st ta te ter ti tion to tra tu u un ur va ve vi wa we wi x y za")
	scripts := []rune{'а', 'α', 'あ', '一', '가', 'ا', 'א', 'अ'}
	for len(tokens) < 128_000 {
		var word strings.Builder
		if random.IntN(8) == 0 {
			first := scripts[random.IntN(len(scripts))]
			for range 1 + random.IntN(4) {
				word.WriteRune(first + rune(random.IntN(30)))
			}
		} else {
			for range 1 + random.IntN(4) {
				word.WriteString(syllables[random.IntN(len(syllables))])
			}
		}
		text := word.String()
		switch random.IntN(10) {
		case 0, 1, 2, 3, 4:
			text = " " + text
		case 5:
			text = strings.ToUpper(text[:1]) + text[1:]
		case 6:
			if random.IntN(8) == 0 {
				text += []string{`"`, `",`, `":`, `.`, `("`, `="`, `\n`}[random.IntN(7)]
			}
		}
		add(text)
	}
	for n := range 256 {
		kind := constrain.Control
		if n == 0 {
			kind = constrain.End
		}
		tokens = append(tokens, constrain.Token{Text: fmt.Sprintf("<|reserved_%d|>", n), Kind: kind})
	}
	return tokens
}

// encode takes the longest token at each place.
func encode(tokens map[string]int, text string) []int {
	var out []int
	for len(text) > 0 {
		n := min(len(text), 24)
		for tokens[text[:n]] == 0 && n > 1 {
			n--
		}
		out = append(out, tokens[text[:n]])
		text = text[n:]
	}
	return out
}

// BenchmarkMask follows whole answers. It reports the mean of each token, with the
// compilation and the start, and the slowest hundredth. In First, each answer has a
// grammar of its own; in Next, all answers have the same.
func BenchmarkMask(b *testing.B) {
	tokens := largeVocabulary()
	ids := map[string]int{}
	for id, t := range tokens {
		if _, ok := ids[t.Text]; !ok {
			ids[t.Text] = id
		}
	}
	began := time.Now()
	v := constrain.NewVocabulary(tokens)
	b.Logf("the vocabulary of %d tokens is ready after %v", len(tokens), time.Since(began))
	for name, c := range map[string]struct{ schema, answer string }{
		"Objects": {
			`{"type":"object","properties":{"title":{"type":"string"},"kind":{"enum":["recipe","article","message"]},"rating":{"type":"number","minimum":0,"maximum":5},
			"servings":{"type":"integer"},"steps":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"minutes":{"type":["integer","null"]}},
			"required":["text","minutes"],"additionalProperties":false}},"tags":{"type":"array","items":{"type":"string"}}},
			"required":["title","kind","rating","servings","steps","tags"],"additionalProperties":false}`,
			`{"title": "Pancakes with a lot of butter and jam", "kind": "recipe", "rating": 4.5, "servings": 12, "steps": [{"text": "Mix flour, milk and eggs in a large bowl.", "minutes": 5},` +
				` {"text": "Let it rest; then heat \"real\" butter in a pan.", "minutes": null}, {"text": "Fry each one for two minutes per side.", "minutes": 20}], "tags": ["sweet", "quick", "für Kinder", "朝食"]}`,
		},
		"AnyObject": {
			``,
			`{"name": "Ada Lovelace", "born": 1815, "fields": ["mathematics", "computing"], "links": {"home": "https://example.com/ada", "more": [1, 2.5, true, null]}, "note": "first program, for the Analytical Engine"}`,
		},
		"Recursive": {
			`{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"op":{"enum":["add","mul","num"]},"value":{"type":["number","null"]},
			"args":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["op","value","args"],"additionalProperties":false}}}`,
			`{"op":"add","value":null,"args":[{"op":"num","value":1,"args":[]},{"op":"mul","value":null,"args":[{"op":"num","value":2.5,"args":[]},{"op":"num","value":-3,"args":[]}]}]}`,
		},
		"Patterns": {
			`{"type":"object","properties":{"id":{"type":"string","format":"uuid"},"at":{"type":"string","format":"date-time"},"code":{"type":"string","pattern":"^[A-Z]{2}-[0-9]+$"},
			"words":{"type":"string","pattern":"^[a-z ]+$"}},"required":["id","at","code","words"],"additionalProperties":false}`,
			`{"id": "123e4567-e89b-12d3-a456-426614174000", "at": "2024-02-29T12:30:00Z", "code": "AB-123456", "words": "some words in lower case with blanks between them and no end of them"}`,
		},
	} {
		compile := func() *constrain.Grammar {
			if c.schema == "" {
				return constrain.Object()
			}
			g, err := constrain.Schema([]byte(c.schema))
			if err != nil {
				b.Fatal(err)
			}
			return g
		}
		answer := encode(ids, c.answer)
		b.Run(name+"/First", func(b *testing.B) { follow(b, compile, v, answer) })
		g := compile()
		b.Run(name+"/Next", func(b *testing.B) { follow(b, func() *constrain.Grammar { return g }, v, answer) })
	}
}

func follow(b *testing.B, grammar func() *constrain.Grammar, v *constrain.Vocabulary, answer []int) {
	var took []time.Duration
	var whole time.Duration
	for b.Loop() {
		began := time.Now()
		m := constrain.NewMatcher(grammar(), v)
		for _, id := range answer {
			step := time.Now()
			mask, err := m.Mask()
			if err != nil {
				b.Fatal(err)
			}
			if mask[id/64]>>(id%64)&1 == 0 {
				b.Fatalf("token %d is not allowed", id)
			}
			if err := m.Advance(id); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(step))
		}
		if !m.Ends() {
			b.Fatal("the answer is not complete")
		}
		whole += time.Since(began)
	}
	slices.Sort(took)
	b.ReportMetric(float64(whole.Nanoseconds())/float64(len(took)), "ns/token")
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "ns/median")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "ns/p99")
	b.ReportMetric(float64(len(answer)), "tokens")
}
