package constrain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/model/constrain"
)

// longTokens has runs of letters of all lengths up to 40 bytes, alone, after and before
// what ends a text or goes on with it, and characters of several bytes and their parts.
func longTokens() []constrain.Token {
	tokens := []constrain.Token{{Text: "</s>", Kind: constrain.End}}
	seen := map[string]bool{}
	add := func(text string) {
		if !seen[text] {
			seen[text] = true
			tokens = append(tokens, constrain.Token{Text: text})
		}
	}
	for b := range 256 {
		add(string([]byte{byte(b)}))
	}
	for n := range 41 {
		run := strings.Repeat("a", n)
		for _, end := range []string{"", `"`, "b", `b"`, "é", `é"`, "\xc3", `\n`, `\`, "c"} {
			add(run + end)
			add("b" + run + end)
			add("\xa9" + run + end)
		}
	}
	return slices.DeleteFunc(tokens, func(t constrain.Token) bool { return t.Text == "" })
}

// limited are patterns whose places allow the same short tokens, and differ in long ones.
var limited = []struct{ pattern, text string }{
	{`^a{40}$`, strings.Repeat("a", 40)},
	{`^.{10,60}$`, strings.Repeat("aé", 20) + strings.Repeat("a", 20)},
	{`^[ab]{2,7}$`, "abababa"},
	{`^[ab]{2,9}b$`, "ababababab"},
	{`^(a{1,17}b){1,3}$`, "aaaab" + strings.Repeat("a", 17) + "ba" + "b"},
	// Either way is dead after some letters.
	{`^(a{30}b|a{9}[^\x{0}-\x{10FFFF}]|b{3}a{12}(a[^\x{0}-\x{10FFFF}]|b))$`, strings.Repeat("a", 30) + "b"},
	{`^(b(a{20}|a{7}c)|aba{14}|ca{15}b?)$`, "b" + strings.Repeat("a", 20)},
	{`^(a{8}b|ba{7}b|c(a{8}|é{8})|a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?)$`, strings.Repeat("a", 8) + "b"},
	{`^é{3,20}$`, strings.Repeat("é", 12)},
	{`a{12}b`, strings.Repeat("a", 11) + "b" + strings.Repeat("a", 12) + "b"},
}

// TestSharedPlaces compares all masks of patterns with limits to what the grammar says of
// each token: places share masks only as far as tokens cannot tell them apart.
func TestSharedPlaces(t *testing.T) {
	tokens := longTokens()
	ids, v, detailed := idsOf(tokens), constrain.NewVocabulary(tokens), constrain.NewDetailedVocabulary(tokens)
	for _, c := range limited {
		g := grammarOf(t, fmt.Sprintf(`{"type":"string","pattern":%q}`, c.pattern))
		after, err := g.AfterThoughts()
		if err != nil {
			t.Fatal(err)
		}
		other := grammarOf(t, `{"type":"string","pattern":"^c{40}$"}`)
		either, err := constrain.Either(t.Context(), other, g)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []struct {
			g    *constrain.Grammar
			v    *constrain.Vocabulary
			text string
		}{{g, v, ""}, {g, detailed, ""}, {after, v, "</think>"}, {either, v, ""}} {
			for _, step := range []int{1, 3} {
				checkMasks(t, constrain.NewMatcher(t.Context(), f.g, f.v), tokens, ids, f.text+`"`+c.text+`"`, step)
			}
		}
	}
}

// checkMasks writes a text by tokens of up to some bytes, and checks the mask of each.
func checkMasks(t *testing.T, m *constrain.Matcher, tokens []constrain.Token, ids map[string]int, text string, step int) {
	t.Helper()
	checkMask(t, m, tokens, maskOf(t, m))
	for rest := text; rest != ""; {
		n := min(step, len(rest))
		for ids[rest[:n]] == 0 {
			n--
		}
		if err := m.Advance(ids[rest[:n]]); err != nil {
			t.Fatalf("%q before %q: %v", text, rest, err)
		}
		checkMask(t, m, tokens, maskOf(t, m))
		rest = rest[n:]
	}
	if !m.Ends() {
		t.Errorf("%q is not complete", text)
	}
}

// TestPlacesShare counts the masks of a long repetition: only those near its limits are
// their own.
func TestPlacesShare(t *testing.T) {
	tokens := longTokens()
	a, v := idsOf(tokens)["a"], constrain.NewVocabulary(tokens)
	bytes := func(most int) int {
		g := grammarOf(t, fmt.Sprintf(`{"type":"string","pattern":"^[ab]{0,%d}$"}`, most))
		m := constrain.NewMatcher(t.Context(), g, v)
		if err := m.Advance(idsOf(tokens)[`"`]); err != nil {
			t.Fatal(err)
		}
		before := g.Bytes()
		for range most - 60 {
			maskOf(t, m)
			if err := m.Advance(a); err != nil {
				t.Fatal(err)
			}
		}
		return g.Bytes() - before
	}
	// The longest tokens have places of their own, and few tokens.
	short, long := bytes(160), bytes(260)
	if t.Logf("100 masks take %d bytes, and 200 take %d", short, long); long-short > 100*200 {
		t.Errorf("100 masks more take %d bytes", long-short)
	}
}
