package constrain

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"unicode"
)

// A pattern writes a regular expression to a graph.
type pattern struct {
	g      *graph
	prog   *syntax.Prog
	inJSON bool // characters stand inside of a JSON string
	whole  bool // the expression matches the whole text, not a part
	next   int32
	at     map[patternState]int32
}

// A patternState is an instruction of the expression with what its assertions need
// to know.
type patternState struct {
	pc    uint32
	phase phase
}

type phase uint8

const (
	phaseFirst phase = iota // before the first character
	phaseInner              // after it
	phaseEnded              // no character may follow
)

// maxProgram limits the size of an expression.
const maxProgram = 4000

// maxPattern limits a pattern, and maxPatterns those of a schema together, in bytes:
// some characters of a pattern stand for hundreds of ranges of characters.
const (
	maxPattern  = 1 << 10
	maxPatterns = 16 << 10
)

// jsUnicode is an escape that JavaScript has and Go writes otherwise.
var jsUnicode = regexp.MustCompile(`((?:^|[^\\])(?:\\\\)*)\\u([0-9A-Fa-f]{4})`)

// pattern adds what an expression of the dialect that JSON Schema and Go share
// matches somewhere in a text, as characters of a JSON string.
func (g *graph) pattern(expression string, next int32) int32 {
	g.patterns += len(expression)
	switch {
	case len(expression) > maxPattern:
		g.fail(fmt.Errorf("it has %d bytes, want at most %d", len(expression), maxPattern))
		return 0
	case g.patterns > maxPatterns:
		g.fail(fmt.Errorf("the patterns of the schema have more than %d bytes", maxPatterns))
		return 0
	}
	return g.expression(jsUnicode.ReplaceAllString(expression, `$1\x{$2}`), pattern{inJSON: true, next: next})
}

// bytesOf adds the texts that an expression matches as a whole.
func (g *graph) bytesOf(expression string, next int32) int32 {
	return g.expression(expression, pattern{whole: true, next: next})
}

// charsOf adds the texts that an expression matches as a whole, as characters of a
// JSON string.
func (g *graph) charsOf(expression string, next int32) int32 {
	return g.expression(expression, pattern{inJSON: true, whole: true, next: next})
}

func (g *graph) expression(expression string, p pattern) int32 {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		g.fail(err)
		return 0
	}
	size, runes := SizeOf(re)
	memory := 640*min(size, maxProgram) + 8*runes
	if !g.spend(size+runes) || !g.take(memory) {
		return 0
	}
	defer func() { g.budget.bytes += memory }()
	if size <= maxProgram {
		p.prog, err = syntax.Compile(re.Simplify())
	}
	if err != nil || p.prog == nil || len(p.prog.Inst) > maxProgram {
		g.fail(fmt.Errorf("the expression %.100q is too large", expression))
		return 0
	}
	p.g, p.at = g, map[patternState]int32{}
	start := uint32(p.prog.Start)
	if p.whole {
		return p.node(start, phaseFirst)
	}
	later := g.split(0, 0)
	g.nodes[later].next, g.nodes[later].other = p.node(start, phaseInner), p.runes(anyRune, later)
	return g.split(p.node(start, phaseFirst), p.runes(anyRune, later))
}

// SizeOf returns how many instructions an expression has at least, up to 1<<30, and how many
// ends of ranges of characters: repetitions multiply.
func SizeOf(re *syntax.Regexp) (size, runes int) {
	runes = len(re.Rune)
	for _, sub := range re.Sub {
		s, r := SizeOf(sub)
		size, runes = size+s, runes+r
	}
	switch re.Op {
	case syntax.OpRepeat:
		size *= max(re.Min, re.Max, 1)
	case syntax.OpLiteral:
		size = len(re.Rune)
	case syntax.OpConcat, syntax.OpCapture, syntax.OpEmptyMatch:
	default:
		size++
	}
	return min(size, 1<<30), runes
}

var anyRune = []runeRange{{0, unicode.MaxRune}}

// node returns the node of an instruction.
func (p *pattern) node(pc uint32, ph phase) int32 {
	key := patternState{pc, ph}
	if at, ok := p.at[key]; ok {
		return at
	}
	at := p.g.split(0, 0)
	p.at[key] = at
	if p.g.err != nil {
		return at
	}
	next, other := p.follow(p.prog.Inst[pc], ph, at)
	p.g.nodes[at].next, p.g.nodes[at].other = next, other
	return at
}

// follow returns where an instruction leads. A node that leads to itself allows
// nothing.
func (p *pattern) follow(i syntax.Inst, ph phase, at int32) (next, other int32) {
	switch i.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return p.node(i.Out, ph), p.node(i.Arg, ph)
	case syntax.InstCapture, syntax.InstNop:
		next = p.node(i.Out, ph)
		return next, next
	case syntax.InstEmptyWidth:
		return p.assert(i, ph, at)
	case syntax.InstMatch:
		if p.whole || ph == phaseEnded {
			return p.next, p.next
		}
		return p.next, p.runes(anyRune, at)
	case syntax.InstFail:
		return at, at
	}
	if ph == phaseEnded {
		return at, at
	}
	next = p.runes(runesOf(i), p.node(i.Out, phaseInner))
	return next, next
}

func (p *pattern) assert(i syntax.Inst, ph phase, at int32) (next, other int32) {
	op := syntax.EmptyOp(i.Arg)
	if op&^(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
		p.g.fail(fmt.Errorf("of all assertions only ^ and $ are supported"))
		return at, at
	}
	if op&syntax.EmptyBeginText != 0 && ph == phaseInner || op&syntax.EmptyBeginText != 0 && ph == phaseEnded {
		return at, at
	}
	if op&syntax.EmptyEndText != 0 {
		ph = phaseEnded
	}
	next = p.node(i.Out, ph)
	return next, next
}

// runesOf returns what an instruction for one character matches.
func runesOf(i syntax.Inst) []runeRange {
	switch i.Op {
	case syntax.InstRuneAny:
		return anyRune
	case syntax.InstRuneAnyNotNL: // JavaScript has more ends of lines than Go
		return []runeRange{{0, '\n' - 1}, {'\n' + 1, '\r' - 1}, {'\r' + 1, '\u2028' - 1}, {'\u2029' + 1, unicode.MaxRune}}
	}
	if len(i.Rune) == 1 {
		out := []runeRange{{i.Rune[0], i.Rune[0]}}
		if syntax.Flags(i.Arg)&syntax.FoldCase != 0 {
			for r := unicode.SimpleFold(i.Rune[0]); r != i.Rune[0]; r = unicode.SimpleFold(r) {
				out = append(out, runeRange{r, r})
			}
		}
		return out
	}
	var out []runeRange
	for k := 0; k+1 < len(i.Rune); k += 2 {
		out = append(out, runeRange{i.Rune[k], i.Rune[k+1]})
	}
	return out
}

// runes adds one of the characters.
func (p *pattern) runes(ranges []runeRange, next int32) int32 {
	if !p.inJSON {
		return p.characters(ranges, next)
	}
	return p.g.inBlock(func() int32 { return p.characters(ranges, next) })
}

func (p *pattern) characters(ranges []runeRange, next int32) int32 {
	var starts, escaped []int32
	for _, r := range ranges {
		if p.g.err != nil {
			return 0
		}
		if !p.inJSON {
			starts = append(starts, p.g.encoded(r, next)...)
			continue
		}
		if !p.g.spend(1 + int(min(r.hi, '\\')-min(r.lo, '\\'))) {
			return 0
		}
		from := r.lo
		for c := r.lo; c <= min(r.hi, '\\'); c++ {
			if c >= ' ' && c != '"' && c != '\\' {
				continue
			}
			if from < c {
				starts = append(starts, p.g.encoded(runeRange{from, c - 1}, next)...)
			}
			from = c + 1
			text := escapes[c]
			if len(text) == 1 || r.hi-r.lo < fewRunes {
				escaped = append(escaped, p.g.literal(text, next))
			}
		}
		if from <= r.hi {
			starts = append(starts, p.g.encoded(runeRange{from, r.hi}, next)...)
		}
	}
	if len(escaped) > 0 {
		starts = append(starts, p.g.literal(`\`, p.g.either(escaped)))
	}
	if len(starts) == 0 {
		return p.g.nothing()
	}
	return p.g.either(starts)
}

// fewRunes are as many characters as a range has that means control characters.
// Larger ranges only hold those with a short escape.
const fewRunes = 33

// escapes has what follows the backslash in the JSON of a character that needs one.
var escapes = newEscapes()

func newEscapes() (of ['\\' + 1]string) {
	for c := range of {
		if text := quote(string(rune(c))); text[1] == '\\' {
			of[c] = text[2 : len(text)-1]
		}
	}
	return of
}
