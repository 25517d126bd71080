package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func capitalize(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToTitle(s[:n]) + lower(s[n:])
}

func isCased(c rune) bool { return unicode.IsUpper(c) || unicode.IsLower(c) || unicode.IsTitle(c) }

// titleCase makes the first letter of each run of letters a capital.
func titleCase(s string) string {
	inWord := false
	return strings.Map(func(c rune) rune {
		was := inWord
		inWord = isCased(c)
		if was {
			return unicode.ToLower(c)
		}
		return unicode.ToTitle(c)
	}, s)
}

func isAlpha(c rune) bool   { return unicode.IsLetter(c) }
func isDecimal(c rune) bool { return unicode.IsDigit(c) }

// isDigit also takes superscripts and subscripts, as Python does.
func isDigit(c rune) bool {
	return isDecimal(c) || strings.ContainsRune("²³¹", c) || c == 0x2070 || c >= 0x2074 && c <= 0x2079 || c >= 0x2080 && c <= 0x2089
}
