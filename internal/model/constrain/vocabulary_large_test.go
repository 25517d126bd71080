package constrain_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/gorizond/koldun/internal/model/constrain"
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

// idsOf returns the first token of each text.
func idsOf(tokens []constrain.Token) map[string]int {
	ids := map[string]int{}
	for id, t := range tokens {
		if _, ok := ids[t.Text]; !ok {
			ids[t.Text] = id
		}
	}
	return ids
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
