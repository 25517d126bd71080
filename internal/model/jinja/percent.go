package jinja

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// conversion matches a conversion of printf-style formatting: key, flags,
// width, precision, length (which has no effect) and type.
var conversion = regexp.MustCompile(`^%(\([^)]*\))?([#0\- +]*)(\*|\d*)(\.(\*|\d*))?[hlL]?(.?)`)

// percent is Python's t % values.
func (r *run) percent(t text, values Value) text {
	p := &printer{run: r, values: []Value{values}, out: builder{run: r}}
	if many, ok := values.(tuple); ok {
		p.values = many.items
	}
	p.mapping, _ = values.(*dict)
	for t.s != "" {
		n := strings.IndexByte(t.s, '%')
		if n < 0 {
			break
		}
		p.out.write(t.cut(0, n))
		t = t.cut(n, len(t.s))
		m := conversion.FindStringSubmatch(t.s)
		p.convert(m)
		t = t.cut(len(m[0]), len(t.s))
	}
	p.out.write(t)
	if p.used < len(p.values) && p.mapping == nil {
		r.fail("not all arguments converted during string formatting")
	}
	return p.out.text().marked(t.safe)
}

type printer struct {
	run     *run
	values  []Value
	used    int
	mapping *dict
	out     builder
}

func (p *printer) next() Value {
	if p.used == len(p.values) {
		p.run.fail("not enough arguments for format string")
	}
	p.used++
	return p.values[p.used-1]
}

func (p *printer) number(s string) int {
	if s == "*" {
		return p.run.index(p.next(), "*")
	}
	n, _ := strconv.Atoi(s)
	p.run.reserve(n, 1)
	return n
}

func (p *printer) convert(m []string) {
	key, flags, kind := m[1], m[2], m[6]
	spec := spec{align: ">", fill: text{s: " "}, precision: -1}
	spec.width = p.number(m[3])
	if m[4] != "" {
		spec.precision = p.number(m[5])
	}
	if kind == "%" {
		if len(m[0]) > 2 {
			p.next()
		}
		p.out.literal("%")
		return
	}
	var v Value
	if key != "" {
		if p.mapping == nil {
			p.run.fail("format requires a mapping")
		}
		found, ok := p.mapping.text(key[1 : len(key)-1])
		if !ok {
			p.run.fail("there is no key %q", key)
		}
		v = found
	} else {
		v = p.next()
	}
	spec.alternate = strings.Contains(flags, "#")
	switch {
	case strings.Contains(flags, "-"):
		spec.align = "<"
	case strings.Contains(flags, "0") && !isOneOf(kind, "srac"):
		spec.fill, spec.align = text{s: "0"}, "="
	}
	switch {
	case strings.Contains(flags, "+"):
		spec.sign = "+"
	case strings.Contains(flags, " "):
		spec.sign = " "
	}
	p.out.write(p.run.converted(v, kind, spec))
}

// converted is one conversion of a value.
func (r *run) converted(v Value, kind string, s spec) text {
	switch kind {
	case "s":
		return s.text(r, r.str(v))
	case "r", "a":
		return s.text(r, r.repr(v))
	case "c":
		if t, ok := v.(text); ok && t.runes() == 1 {
			return s.text(r, t)
		}
		i, ok := small(v)
		if !ok || i < 0 || i > 0x10ffff {
			r.fail("%%c requires an int or a single character")
		}
		return s.text(r, text{s: string(rune(i))})
	case "d", "i", "u", "x", "X", "o":
		i, ok := whole(v)
		if f, isFloat := v.(float); isFloat && isOneOf(kind, "diu") && !math.IsInf(float64(f), 0) && !math.IsNaN(float64(f)) {
			i, ok = floatToInt(float64(f)), true
		}
		if !ok {
			r.use(v)
			r.fail("%%%s format: an integer is required, not %s", kind, v.typeName())
		}
		if isOneOf(kind, "iu") {
			kind = "d"
		}
		return s.integer(r, i, kind)
	case "e", "E", "f", "F", "g", "G":
		f, ok := asFloat(v)
		if !ok {
			r.use(v)
			r.fail("must be real number, not %s", v.typeName())
		}
		return s.float(r, f, kind)
	}
	r.fail("unsupported format character %q", kind)
	return text{}
}

// isOneOf reports whether the type of a conversion is one of some letters.
func isOneOf(kind, letters string) bool { return kind != "" && strings.Contains(letters, kind) }

// floatToInt drops the fraction of a finite number.
func floatToInt(f float64) *big.Int {
	i, _ := new(big.Float).SetFloat64(math.Trunc(f)).Int(nil)
	return i
}

// A spec says how to write a value.
type spec struct {
	fill      text
	align     string // "<", ">", "^", or "=" for padding behind the sign; "" is the default of the type
	sign      string // "+", " " or ""
	alternate bool
	width     int
	grouping  string // "," or "_" between thousands, or ""
	precision int    // or -1
}

func (s spec) text(r *run, t text) text {
	if s.precision >= 0 {
		t = r.sliceText(t, 0, min(s.precision, t.runes()), 1).(text)
	}
	return s.padded(r, "", t)
}

// padded writes a sign and the rest of a value in the width.
func (s spec) padded(r *run, sign string, t text) text {
	if s.align == "=" {
		return r.join(text{s: sign}, r.widen(t, s.width-len(sign), s.fill, "right"))
	}
	align := map[string]string{"<": "left", ">": "right", "^": "middle"}[s.align]
	whole := r.join(text{s: sign}, t)
	if align == "middle" { // unlike str.center, the odd one goes to the right
		n := max(s.width-whole.runes(), 0)
		whole = r.widen(whole, whole.runes()+n/2, s.fill, "right")
		align = "left"
	}
	return r.widen(whole, s.width, s.fill, align)
}

func (s spec) signed(negative bool) string {
	if negative {
		return "-"
	}
	return s.sign
}

func (s spec) integer(r *run, i *big.Int, kind string) text {
	base := map[string]int{"d": 10, "x": 16, "X": 16, "o": 8, "b": 2}[kind]
	digits := new(big.Int).Abs(i).Text(base)
	if s.precision > len(digits) {
		digits = strings.Repeat("0", s.precision-len(digits)) + digits
	}
	size := 3
	if base != 10 {
		size = 4
	}
	digits = grouped(digits, s.grouping, size)
	prefix := s.signed(i.Sign() < 0)
	if s.alternate && base != 10 {
		prefix += "0" + kind
	}
	if kind == "X" {
		digits = strings.ToUpper(digits)
	}
	return s.padded(r, prefix, text{s: digits})
}

func (s spec) float(r *run, f float64, kind string) text {
	precision := s.precision
	if precision < 0 {
		precision = 6
	}
	r.reserve(precision, 1)
	if precision > 1000 {
		r.fail("precision %d is too big", precision)
	}
	var digits string
	abs := math.Abs(f)
	switch lower := strings.ToLower(kind); {
	case math.IsInf(f, 0):
		digits = "inf"
	case math.IsNaN(f):
		digits = "nan"
	case lower == "g":
		digits = general(abs, max(precision, 1), s.alternate)
	case kind == "":
		digits = generalFloat(abs, max(precision, 1))
	default:
		digits = strconv.FormatFloat(abs, lower[0], precision, 64)
	}
	if strings.ToUpper(kind) == kind {
		digits = strings.ToUpper(digits)
	}
	return s.padded(r, s.signed(math.Signbit(f) && !math.IsNaN(f)), text{s: groupedFloat(digits, s.grouping)})
}

// general is the format g: p significant digits, in the shorter notation.
func general(f float64, p int, keepZeros bool) string {
	s := strconv.FormatFloat(f, 'e', p-1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	x, _ := strconv.Atoi(exponent)
	if x < -4 || x >= p {
		if !keepZeros && strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		return fmt.Sprintf("%se%s", mantissa, exponent)
	}
	s = strconv.FormatFloat(f, 'f', p-1-x, 64)
	if !keepZeros && strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// generalFloat is general for a float without a type of format: it shows that
// it is one.
func generalFloat(f float64, p int) string {
	s := strconv.FormatFloat(f, 'e', p-1, 64)
	if x, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:]); x >= p-1 {
		mantissa, exponent, _ := strings.Cut(s, "e")
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		return mantissa + "e" + exponent
	}
	s = general(f, p, false)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

func grouped(digits, by string, size int) string {
	if by == "" {
		return digits
	}
	var parts []string
	for len(digits) > size {
		parts = append([]string{digits[len(digits)-size:]}, parts...)
		digits = digits[:len(digits)-size]
	}
	return strings.Join(append([]string{digits}, parts...), by)
}

func groupedFloat(digits, by string) string {
	n := strings.IndexFunc(digits, func(c rune) bool { return c < '0' || c > '9' })
	if n < 0 {
		n = len(digits)
	}
	return grouped(digits[:n], by, 3) + digits[n:]
}
