package split

import (
	"slices"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer/pattern"
)

// The behaviours: what becomes of the matches of a pattern.
const (
	removed            = "Removed"
	isolated           = "Isolated"
	contiguous         = "Contiguous" // isolated, and neighbours are one word
	mergedWithPrevious = "MergedWithPrevious"
	mergedWithNext     = "MergedWithNext"
)

// byPattern splits at the matches of a pattern, or with invert at what lies
// between them.
type byPattern struct {
	pattern  pattern.Pattern
	behavior string
	invert   bool
}

func newByPattern(p pattern.Pattern, behavior string, invert bool) (Splitter, error) {
	if !slices.Contains([]string{removed, isolated, contiguous, mergedWithPrevious, mergedWithNext}, behavior) {
		return nil, fault.Errorf(fault.Unsupported, "behavior is %q", behavior)
	}
	return byPattern{p, behavior, invert}, nil
}

func (s byPattern) Split(words []Word) []Word {
	out := make([]Word, 0, len(words))
	for _, w := range words {
		for _, p := range s.arrange(s.pieces(w.Text)) {
			if p.Start < p.End {
				out = append(out, Word{w.Text[p.Start:p.End], w.First && p.Start == 0})
			}
		}
	}
	return out
}

func (s byPattern) Growth() float64 { return 1 }

// A piece is a match, or what lies between matches.
type piece struct {
	pattern.Match
	matches bool
}

func (s byPattern) pieces(text string) []piece {
	var out []piece
	at := 0
	for _, m := range s.pattern.Find(text) {
		if at < m.Start {
			out = append(out, piece{pattern.Match{Start: at, End: m.Start}, s.invert})
		}
		out = append(out, piece{m, !s.invert})
		at = m.End
	}
	if at < len(text) {
		out = append(out, piece{pattern.Match{Start: at, End: len(text)}, s.invert})
	}
	return out
}

// arrange applies the behaviour to the pieces of a text.
func (s byPattern) arrange(in []piece) []piece {
	if s.behavior == isolated {
		return in
	}
	out := make([]piece, 0, len(in))
	for i, p := range in {
		last := len(out) - 1
		switch {
		case s.behavior == removed && p.matches:
		case s.behavior == contiguous && last >= 0 && in[i-1].matches == p.matches,
			s.behavior == mergedWithPrevious && p.matches && last >= 0 && !in[i-1].matches,
			s.behavior == mergedWithNext && !p.matches && last >= 0 && in[i-1].matches:
			out[last].End = p.End
		default:
			out = append(out, p)
		}
	}
	return out
}
