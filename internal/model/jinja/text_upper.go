package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longUpper has the small letters whose capitals are several letters, after
// SpecialCasing.txt of Unicode, without those of Greek and Armenian.
var longUpper = strings.NewReplacer(
	"ß", "SS", "ŉ", "ʼN", "ǰ", "J̌", "ẖ", "H̱", "ẗ", "T̈", "ẘ", "W̊", "ẙ", "Y̊", "ẚ", "Aʾ",
	"ﬀ", "FF", "ﬁ", "FI", "ﬂ", "FL", "ﬃ", "FFI", "ﬄ", "FFL", "ﬅ", "ST", "ﬆ", "ST",
)

func upper(s string) string { return strings.ToUpper(longUpper.Replace(s)) }

// lower makes letters small. A sigma at the end of a word has its own form.
func lower(s string) string {
	if !strings.ContainsAny(s, "İΣ") {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for i, c := range s {
		switch {
		case c == 'İ':
			b.WriteString("i\u0307")
		case c == 'Σ' && endsWord(s, i):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(c))
		}
	}
	return b.String()
}

// endsWord reports whether the character at i follows a letter and no letter
// follows it.
func endsWord(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	_, size := utf8.DecodeRuneInString(s[i:])
	after, _ := utf8.DecodeRuneInString(s[i+size:])
	return isCased(before) && !isCased(after)
}
