package jinja

import (
	"math/big"
	"strconv"
	"strings"
)

func (l *lexer) number() {
	s := l.rest()
	if n := floatLength(s); n > 0 && l.source[l.pos-1] != '.' {
		f, _ := strconv.ParseFloat(strings.ReplaceAll(s[:n], "_", ""), 64)
		l.tokens = append(l.tokens, token{kind: tokenNumber, line: l.line, value: float(f)})
		l.advance(n)
		return
	}
	n := integerLength(s)
	digits := strings.ReplaceAll(s[:n], "_", "")
	if len(digits) > maxIntegerBits/4 {
		l.fail("the number has %d digits, which is too many", len(digits))
	}
	i, _ := new(big.Int).SetString(digits, 0)
	l.tokens = append(l.tokens, token{kind: tokenNumber, line: l.line, value: normalized(i)})
	l.advance(n)
}

// digitRun returns the length of the digits that s begins with, which single
// underscores can separate.
func digitRun(s, digits string) int {
	n := 0
	for n < len(s) {
		switch {
		case strings.IndexByte(digits, s[n]) >= 0:
			n++
		case n > 0 && s[n] == '_' && n+1 < len(s) && strings.IndexByte(digits, s[n+1]) >= 0:
			n += 2
		default:
			return n
		}
	}
	return n
}

const decimal = "0123456789"

// floatLength returns the length of the number with a fraction or an exponent
// that s begins with, or 0.
func floatLength(s string) int {
	whole := digitRun(s, decimal)
	end := whole
	if strings.HasPrefix(s[whole:], ".") {
		if n := digitRun(s[whole+1:], decimal); n > 0 {
			end = whole + 1 + n
		}
	}
	if exponent := s[end:]; exponent != "" && (exponent[0] == 'e' || exponent[0] == 'E') {
		signed := len(sign(exponent[1:]))
		if n := digitRun(exponent[1+signed:], decimal); n > 0 {
			return end + 1 + signed + n
		}
	}
	if end == whole {
		return 0
	}
	return end
}

// integerLength returns the length of the integer that s, which begins with a
// digit, begins with.
func integerLength(s string) int {
	if len(s) > 1 && s[0] == '0' {
		digits := map[byte]string{'b': "01", 'o': "01234567", 'x': "0123456789abcdefABCDEF"}[s[1]|0x20]
		rest := s[2:]
		skipped := 2
		if strings.HasPrefix(rest, "_") {
			rest, skipped = rest[1:], 3
		}
		if n := digitRun(rest, digits); n > 0 {
			return skipped + n
		}
	}
	if s[0] == '0' {
		return digitRun(s, "0")
	}
	return digitRun(s, decimal)
}
