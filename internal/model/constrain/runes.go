package constrain

import "unicode/utf8"

// A runeRange holds the runes from lo to hi.
type runeRange struct{ lo, hi rune }

// encoded returns a start that allows the UTF-8 of the runes of a range.
// Surrogates have none.
func (g *graph) encoded(r runeRange, next int32) []int32 {
	const surrogateLo, surrogateHi = 0xD800, 0xDFFF
	if r.lo < surrogateLo && r.hi > surrogateHi {
		return append(g.encoded(runeRange{r.lo, surrogateLo - 1}, next), g.encoded(runeRange{surrogateHi + 1, r.hi}, next)...)
	}
	if r.lo >= surrogateLo && r.lo <= surrogateHi {
		r.lo = surrogateHi + 1
	}
	if r.hi >= surrogateLo && r.hi <= surrogateHi {
		r.hi = surrogateLo - 1
	}
	if r.lo > r.hi {
		return nil
	}
	for _, last := range []rune{0x7F, 0x7FF, 0xFFFF} {
		if r.lo <= last && r.hi > last {
			return append(g.encoded(runeRange{r.lo, last}, next), g.encoded(runeRange{last + 1, r.hi}, next)...)
		}
	}
	// Split until all bytes after the first that differs are free.
	for i := 1; i < utf8.UTFMax; i++ {
		mask := rune(1)<<(6*i) - 1
		if r.lo&^mask == r.hi&^mask || r.hi <= 0x7F {
			continue
		}
		if r.lo&mask != 0 {
			return append(g.encoded(runeRange{r.lo, r.lo | mask}, next), g.encoded(runeRange{(r.lo | mask) + 1, r.hi}, next)...)
		}
		if r.hi&mask != mask {
			return append(g.encoded(runeRange{r.lo, r.hi&^mask - 1}, next), g.encoded(runeRange{r.hi &^ mask, r.hi}, next)...)
		}
	}
	lo, hi := utf8.AppendRune(nil, r.lo), utf8.AppendRune(nil, r.hi)
	for i := len(lo) - 1; i >= 0; i-- {
		next = g.bytes(lo[i], hi[i], next)
	}
	return []int32{next}
}
