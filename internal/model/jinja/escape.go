package jinja

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

var simpleEscapes = map[byte]string{
	'\n': "", '\\': `\`, '\'': "'", '"': `"`, 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
}

// unescape replaces the escapes of a string literal as Python does: an unknown
// escape stays as it is written. fault is "" if the literal is valid.
func unescape(s string) (text, fault string) {
	if !strings.Contains(s, `\`) {
		return s, ""
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if simple, ok := simpleEscapes[s[i]]; ok {
			b.WriteString(simple)
			continue
		}
		digits, base := 0, 16
		switch s[i] {
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		case 'N':
			return "", `the escape \N is not supported: write the character itself`
		case '0', '1', '2', '3', '4', '5', '6', '7':
			base = 8
			i--
			for digits < 3 && i+1+digits < len(s) && s[i+1+digits] >= '0' && s[i+1+digits] <= '7' {
				digits++
			}
		default:
			b.WriteString(s[i-1 : i+1])
			continue
		}
		if i+1+digits > len(s) {
			return "", fmt.Sprintf(`the escape \%c is cut off`, s[i])
		}
		code, err := strconv.ParseUint(s[i+1:i+1+digits], base, 32)
		if err != nil || code > utf8.MaxRune {
			return "", fmt.Sprintf(`\%s is not an escape`, s[i:i+1+digits])
		}
		b.WriteRune(rune(code))
		i += digits
	}
	return b.String(), ""
}
