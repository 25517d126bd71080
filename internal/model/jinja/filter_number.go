package jinja

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

var numberFilters = map[string]filter{
	"abs":   {params{}, absFilter, nil},
	"int":   {params{optional("default", integer(0)), optional("base", integer(10))}, intFilter, nil},
	"float": {params{optional("default", float(0))}, floatFilter, nil},
	"round": {params{optional("precision", integer(0)), optional("method", text{s: "common"})}, roundFilter, nil},
	"sum":   {params{optional("attribute", none{}), optional("start", integer(0))}, sumFilter, nil},
}

func absFilter(r *run, v Value, _ []Value) Value {
	if f, ok := v.(float); ok {
		return float(math.Abs(float64(f)))
	}
	i, ok := whole(v)
	if !ok {
		r.use(v)
		r.fail("bad operand type for abs(): '%s'", v.typeName())
	}
	return normalized(new(big.Int).Abs(i))
}

func intFilter(r *run, v Value, a []Value) Value {
	r.use(v)
	if t, ok := v.(text); ok {
		if i, ok := parseInt(t.s, r.index(a[1], "base")); ok {
			return i
		}
	} else if i, ok := whole(v); ok {
		return normalized(i)
	}
	f, ok := toFloat(v)
	if !ok || math.IsInf(f, 0) || math.IsNaN(f) {
		return a[0]
	}
	return normalized(floatToInt(f))
}

// parseInt is Python's int(s, base).
func parseInt(s string, base int) (Value, bool) {
	s = strings.TrimFunc(s, isSpace)
	if len(s) > 4300 || strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") || base == 1 || base < 0 || base > 36 {
		return nil, false
	}
	s = strings.ReplaceAll(s, "_", "")
	sign := ""
	if s != "" && strings.ContainsAny(s[:1], "+-") {
		sign, s = s[:1], s[1:]
	}
	if prefix := map[int]string{2: "0b", 8: "0o", 16: "0x"}[base]; prefix != "" && len(s) > 1 && strings.EqualFold(s[:2], prefix) {
		s = s[2:]
	}
	if s == "" || strings.ContainsAny(s[:1], "+-") {
		return nil, false
	}
	i, ok := new(big.Int).SetString(sign+s, base)
	if !ok || i.BitLen() > maxIntegerBits {
		return nil, false
	}
	return normalized(i), true
}

// separated matches a number with underscores between digits, which Python
// allows.
var separated = regexp.MustCompile(`^[^_]*([0-9]_[0-9][^_]*)+$`)

// toFloat is Python's float(v); ok is false if it raises an error that the
// filters int and float expect.
func toFloat(v Value) (float64, bool) {
	if t, ok := v.(text); ok {
		s := lower(strings.TrimFunc(t.s, isSpace))
		if separated.MatchString(s) {
			s = strings.ReplaceAll(s, "_", "")
		}
		if strings.ContainsAny(s, "xp_") {
			return 0, false
		}
		f, err := strconv.ParseFloat(s, 64)
		if err != nil && !math.IsInf(f, 0) {
			return 0, false
		}
		return f, true
	}
	return asFloat(v)
}

func floatFilter(r *run, v Value, a []Value) Value {
	r.use(v)
	if f, ok := toFloat(v); ok {
		return float(f)
	}
	return a[0]
}

func roundFilter(r *run, v Value, a []Value) Value {
	precision, method := r.index(a[0], "precision"), r.str(a[1]).s
	f, ok := asFloat(v)
	if !ok {
		r.use(v)
		r.fail("type %s doesn't define __round__ method", v.typeName())
	}
	switch method {
	case "common":
		i, isWhole := whole(v)
		if isWhole && precision >= 0 {
			return normalized(i)
		}
		if isWhole {
			return roundWhole(r, i, -precision)
		}
		if precision > 300 || math.IsInf(f, 0) || math.IsNaN(f) {
			return v
		}
		if precision < 0 {
			p := math.Pow10(-max(precision, -330))
			return float(math.RoundToEven(f/p) * p)
		}
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', precision, 64), 64)
		return float(rounded)
	case "ceil":
		return float(math.Ceil(f*math.Pow10(precision)) / math.Pow10(precision))
	case "floor":
		return float(math.Floor(f*math.Pow10(precision)) / math.Pow10(precision))
	}
	r.fail("method must be common, ceil or floor")
	return nil
}

// roundWhole rounds an integer to a multiple of a power of ten, halves to even.
func roundWhole(r *run, i *big.Int, zeros int) Value {
	integerSize(r, zeros*4)
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(zeros)), nil)
	q, m := new(big.Int).DivMod(i, p, new(big.Int))
	if c := m.Lsh(m, 1).Cmp(p); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return normalized(q.Mul(q, p))
}

func sumFilter(r *run, v Value, a []Value) Value {
	get, next, total := getter(r, a[0], nil), r.iterator(v), a[1]
	if _, ok := total.(text); ok {
		r.fail("sum() can't sum strings")
	}
	for {
		item, ok := next(r)
		if !ok {
			return total
		}
		total = binary(r, "+", total, get(item))
	}
}
