package constrain

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// A bound is a limit of numbers; nil is none.
type bound struct {
	value *big.Rat
	open  bool // the limit itself is outside
}

// An interval is a set of numbers.
type interval struct {
	lo, hi   *bound
	fraction int // most digits after the point; 0 allows integers only
}

const (
	maxInteger  = 18 // digits before the point; int64 holds all such numbers
	maxFraction = 17 // digits after it
)

// most is the first number with too many digits.
var most = new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(maxInteger), nil))

// parseNumber returns the exact number. It refuses numbers beyond 18 digits before
// or after the point.
func parseNumber(n json.Number) (*big.Rat, error) {
	f, err := n.Float64()
	if err != nil || len(n) > 64 || f != 0 && (f > 1e18 || f < -1e18 || f < 1e-18 && f > -1e-18) {
		return nil, fmt.Errorf("the number %.70s has too many digits", string(n))
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok || new(big.Rat).Abs(r).Cmp(most) >= 0 {
		return nil, fmt.Errorf("the number %s has too many digits", n)
	}
	if exact, _ := new(big.Rat).SetString(r.FloatString(maxFraction)); exact.Cmp(r) != 0 {
		return nil, fmt.Errorf("the number %s has too many digits", n)
	}
	return r, nil
}

// numbers adds the numbers of an interval, without exponents.
func (g *graph) numbers(in interval, next int32) int32 {
	var starts []int32
	zero := new(big.Rat)
	if in.hi == nil || in.hi.value.Sign() >= 0 {
		lo := in.lo
		if lo == nil || lo.value.Sign() < 0 {
			lo = &bound{value: zero}
		}
		starts = append(starts, newDigits(g, lo, in.hi, in.fraction, next).starts()...)
	}
	if in.lo == nil || in.lo.value.Sign() < 0 {
		lo := &bound{value: zero, open: true}
		if in.hi != nil && in.hi.value.Sign() < 0 {
			lo = in.hi.negated()
		}
		for _, s := range newDigits(g, lo, in.lo.negated(), in.fraction, next).starts() {
			starts = append(starts, g.bytes('-', '-', s))
		}
	}
	if len(starts) == 0 {
		return g.nothing()
	}
	return g.either(starts)
}

func (b *bound) negated() *bound {
	if b == nil {
		return nil
	}
	return &bound{value: new(big.Rat).Neg(b.value), open: b.open}
}

// digits writes the numbers from a bound that is not negative up to another.
type digits struct {
	g          *graph
	lo, hi     decimal
	unlimited  bool // there is no upper bound
	fraction   int
	next       int32
	integer    int // digits before the point of the numbers being written
	remembered map[digitState]int32
}

// A decimal is a bound in digits.
type decimal struct {
	digits string
	point  int // digits before the point
	open   bool
}

// A digitState is a position in a number, and whether its digits so far are those
// of the bounds.
type digitState struct {
	at      int
	onLo    bool
	onHi    bool
	integer int
}

func newDigits(g *graph, lo, hi *bound, fraction int, next int32) *digits {
	d := &digits{g: g, lo: newDecimal(lo), fraction: fraction, next: next, remembered: map[digitState]int32{}}
	if d.unlimited = hi == nil; !d.unlimited {
		d.hi = newDecimal(hi)
	}
	return d
}

func newDecimal(b *bound) decimal {
	whole, part, _ := strings.Cut(b.value.FloatString(maxFraction), ".")
	return decimal{digits: whole + strings.TrimRight(part, "0"), point: len(whole), open: b.open}
}

func (d decimal) digit(i int) byte {
	if i < len(d.digits) {
		return d.digits[i]
	}
	return '0'
}

// ends reports whether only zeros follow.
func (d decimal) ends(i int) bool {
	return i >= len(d.digits) || strings.Trim(d.digits[i:], "0") == ""
}

// starts returns the beginnings of the numbers with each count of digits before
// the point.
func (d *digits) starts() []int32 {
	last := maxInteger
	if !d.unlimited {
		last = d.hi.point
	}
	var out []int32
	for d.integer = d.lo.point; d.integer <= last; d.integer++ {
		out = append(out, d.from(digitState{0, d.integer == d.lo.point, !d.unlimited && d.integer == d.hi.point, d.integer}))
	}
	return out
}

// from returns the node for the rest of a number.
func (d *digits) from(s digitState) int32 {
	if at, ok := d.remembered[s]; ok {
		return at
	}
	var starts []int32
	if s.at >= d.integer && d.mayEnd(s) {
		starts = append(starts, d.next)
	}
	if s.at < d.integer+d.fraction {
		more := d.oneMore(s)
		if s.at == d.integer && len(more) > 0 {
			more = []int32{d.g.bytes('.', '.', d.g.either(more))}
		}
		starts = append(starts, more...)
	}
	var at int32
	if len(starts) > 0 {
		at = d.g.either(starts)
	} else {
		at = d.g.nothing()
	}
	d.remembered[s] = at
	return at
}

func (d *digits) mayEnd(s digitState) bool {
	if s.onLo && (!d.lo.ends(s.at) || d.lo.open) {
		return false
	}
	return !s.onHi || !d.hi.ends(s.at) || !d.hi.open
}

// oneMore returns the nodes of the next digit: one for those on each bound, and one
// for those between.
func (d *digits) oneMore(s digitState) []int32 {
	lo, hi := byte('0'), byte('9')
	if s.at == 0 && d.integer > 1 {
		lo = '1'
	}
	if s.onLo {
		lo = max(lo, d.lo.digit(s.at))
	}
	if s.onHi {
		hi = d.hi.digit(s.at)
	}
	var out []int32
	for c := lo; c <= hi; {
		to := c
		state := d.after(s, c)
		for to < hi && d.after(s, to+1) == state {
			to++
		}
		out = append(out, d.g.bytes(c, to, d.from(state)))
		c = to + 1
	}
	return out
}

func (d *digits) after(s digitState, c byte) digitState {
	return digitState{s.at + 1, s.onLo && c == d.lo.digit(s.at), s.onHi && c == d.hi.digit(s.at), s.integer}
}
