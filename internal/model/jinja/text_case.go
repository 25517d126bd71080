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

func swapCase(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsUpper(c) {
			return unicode.ToLower(c)
		}
		return unicode.ToUpper(c)
	}, s)
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
func isNumeric(c rune) bool { return unicode.IsNumber(c) }
func isAlnum(c rune) bool   { return isAlpha(c) || isNumeric(c) }

// isDigit also takes superscripts and subscripts, as Python does.
func isDigit(c rune) bool {
	return isDecimal(c) || strings.ContainsRune("²³¹", c) || c == 0x2070 || c >= 0x2074 && c <= 0x2079 || c >= 0x2080 && c <= 0x2089
}

func isIdentifier(s string) bool {
	first := firstRune(s)
	return s != "" && (first == '_' || unicode.IsLetter(first)) && strings.IndexFunc(s, func(c rune) bool { return !isWord(c) && !unicode.Is(unicode.Mn, c) }) < 0
}

// isLower reports whether a text has letters and all of them are small.
func isLower(s string) bool {
	return strings.IndexFunc(s, unicode.IsLower) >= 0 && strings.IndexFunc(s, func(c rune) bool { return unicode.IsUpper(c) || unicode.IsTitle(c) }) < 0
}

func isUpper(s string) bool {
	return strings.IndexFunc(s, unicode.IsUpper) >= 0 && strings.IndexFunc(s, func(c rune) bool { return unicode.IsLower(c) || unicode.IsTitle(c) }) < 0
}

func isTitle(s string) bool {
	cased, inWord := false, false
	for _, c := range s {
		switch {
		case unicode.IsUpper(c) || unicode.IsTitle(c):
			if inWord {
				return false
			}
			inWord, cased = true, true
		case unicode.IsLower(c):
			if !inWord {
				return false
			}
			cased = true
		default:
			inWord = false
		}
	}
	return cased
}
