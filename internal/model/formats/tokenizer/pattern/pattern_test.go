package pattern_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer/pattern"
)

func found(p pattern.Pattern, text string) []string {
	var out []string
	for _, m := range p.Find(text) {
		out = append(out, text[m.Start:m.End])
	}
	return out
}

func TestFind(t *testing.T) {
	const gpt2 = `'s|'t| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	for name, c := range map[string]struct {
		regex, text string
		want        []string
	}{
		"OneSpaceBelongsToTheWord":  {gpt2, "a b", []string{"a", " b"}},
		"LastSpaceBelongsToTheWord": {gpt2, "a   b", []string{"a", "  ", " b"}},
		"LineBreakCannotBelong":     {gpt2, "a\n\nb\n", []string{"a", "\n", "\n", "b", "\n"}},
		"SpacesAtTheEnd":            {gpt2, "a   ", []string{"a", "   "}},
		"WideSpaces":                {gpt2, "a\u3000\u00a0b", []string{"a", "\u3000", "\u00a0", "b"}},
		"NextLine":                  {gpt2, "\u0085\u0085x", []string{"\u0085", "\u0085", "x"}},
		"NoSpaceButSeparator":       {gpt2, "a\x1cb", []string{"a", "\x1c", "b"}},
		"LongS":                     {`(?i:'s)|\p{L}+`, "'ſ'S", []string{"'ſ", "'S"}},
		"EndOfLine":                 {`\s+$`, "a  \nb  ", []string{"  ", "  "}},
		"EscapedCode":               {`\u4e00+`, "a一一", []string{"一一"}},
		"BracketFirst":              {`[]a]+`, "x]a", []string{"]a"}},
		"Gaps":                      {`\p{N}{1,3}`, "a1234b", []string{"123", "4"}},
	} {
		p, err := pattern.Regex(c.regex)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(c.want, found(p, c.text)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if d := cmp.Diff([]string{"ab", "ab"}, found(pattern.Text("ab"), "ababa")); d != "" {
		t.Error(d)
	}
}

func TestRefused(t *testing.T) {
	for _, source := range []string{
		`a(?!b)`, `(?<=a)b`, `(\s+(?!\S)|\s+)`, `\s+(?!\S)|\s+x`, `a++`, `[a&&b]`, `[a[b]]`, `[\S]`, `^a`, `\ba`, `a*`, `(`, `\`, `\h`, `\u12`,
		strings.Repeat("a", 1<<14+1),
	} {
		if _, err := pattern.Regex(source); !fault.Is(err, fault.Unsupported) {
			t.Errorf("%q: %v, want Unsupported", source, err)
		}
	}
	for _, raw := range []string{`{}`, `{"String":""}`, `{"Regex":"a","String":"b"}`, `3`} {
		if _, err := pattern.Parse(json.RawMessage(raw)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, want Invalid", raw, err)
		}
	}
}

func FuzzRegex(f *testing.F) {
	f.Add(`(?i:'s)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, "It's  1234 \n\n x\u3000 ")
	f.Add(`[\]\u4e00-\u9fff]\s?$|\s+(?!\S)|\s+`, "\xff  a")
	f.Fuzz(func(t *testing.T, source, text string) {
		p, err := pattern.Regex(source)
		if err != nil {
			if !fault.Is(err, fault.Unsupported) {
				t.Fatalf("error %v is %s", err, fault.KindOf(err))
			}
			return
		}
		at := 0
		for _, m := range p.Find(text) {
			if m.Start < at || m.End <= m.Start || m.End > len(text) {
				t.Fatalf("%q finds %d to %d in %q after %d", source, m.Start, m.End, text, at)
			}
			at = m.End
		}
	})
}
