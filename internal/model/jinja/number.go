package jinja

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxIntegerBits bounds integers, which have no bound in Python.
const maxIntegerBits = 1 << 14

// normalized returns an integer as the smallest type that holds it.
func normalized(i *big.Int) Value {
	if i.IsInt64() {
		return integer(i.Int64())
	}
	return bigInt{i}
}

// whole returns v as an integer if it is one; bools are 0 and 1.
func whole(v Value) (*big.Int, bool) {
	switch v := v.(type) {
	case boolean:
		if v {
			return big.NewInt(1), true
		}
		return new(big.Int), true
	case integer:
		return big.NewInt(int64(v)), true
	case bigInt:
		return v.Int, true
	}
	return nil, false
}

// small returns v as an int64 if it is an integer of that size.
func small(v Value) (int64, bool) {
	switch v := v.(type) {
	case boolean:
		if v {
			return 1, true
		}
		return 0, true
	case integer:
		return int64(v), true
	}
	return 0, false
}

// asFloat returns v as a float if it is a number.
func asFloat(v Value) (float64, bool) {
	switch v := v.(type) {
	case float:
		return float64(v), true
	case bigInt:
		f, _ := new(big.Float).SetInt(v.Int).Float64()
		return f, true
	}
	i, ok := small(v)
	return float64(i), ok
}

// floatText is Python's repr of a float: the shortest digits that read back as
// the same number.
func floatText(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	at := strings.IndexByte(s, 'e')
	exponent, _ := strconv.Atoi(s[at+1:])
	if exponent < -4 || exponent >= 16 {
		return s // Go and Python write at least two digits of the exponent
	}
	s = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// arithmetic is a binary operation on two numbers. ok is false if one of them
// is no number.
func arithmetic(r *run, op string, a, b Value) (v Value, ok bool) {
	x, xok := small(a)
	y, yok := small(b)
	if xok && yok {
		if v, ok := smallArithmetic(op, x, y); ok {
			return v, true
		}
	}
	i, iok := whole(a)
	j, jok := whole(b)
	if iok && jok {
		return wholeArithmetic(r, op, i, j), true
	}
	f, fok := asFloat(a)
	g, gok := asFloat(b)
	if fok && gok {
		return realArithmetic(r, op, f, g), true
	}
	return nil, false
}

// smallArithmetic computes sums that do not overflow.
func smallArithmetic(op string, x, y int64) (Value, bool) {
	const limit = 1 << 62
	if x > limit || x < -limit || y > limit || y < -limit {
		return nil, false
	}
	switch op {
	case "+":
		return integer(x + y), true
	case "-":
		return integer(x - y), true
	}
	return nil, false
}

func wholeArithmetic(r *run, op string, x, y *big.Int) Value {
	z := new(big.Int)
	switch op {
	case "+":
		z.Add(x, y)
	case "-":
		z.Sub(x, y)
	case "*":
		integerSize(r, x.BitLen()+y.BitLen())
		z.Mul(x, y)
	case "/":
		f, _ := asFloat(normalized(x))
		g, _ := asFloat(normalized(y))
		return realArithmetic(r, op, f, g)
	case "**":
		return power(r, x, y)
	default:
		if y.Sign() == 0 {
			r.fail("integer division or modulo by zero")
		}
		m := new(big.Int)
		z.DivMod(x, y, m)
		if m.Sign() != 0 && y.Sign() < 0 { // Euclid's remainder is not negative, Python's has the sign of y
			m.Add(m, y)
			z.Sub(z, big.NewInt(1))
		}
		if op == "%" {
			z = m
		}
	}
	integerSize(r, z.BitLen())
	return normalized(z)
}

func power(r *run, x, y *big.Int) Value {
	if y.Sign() < 0 {
		f, _ := asFloat(normalized(x))
		g, _ := asFloat(normalized(y))
		return realArithmetic(r, "**", f, g)
	}
	if x.BitLen() <= 1 { // -1, 0 or 1
		y = big.NewInt(int64(y.Bit(0)) + 2*int64(min(y.BitLen()-int(y.Bit(0)), 1)))
	}
	if !y.IsInt64() || y.Int64() > maxIntegerBits {
		integerSize(r, maxIntegerBits+1)
	}
	integerSize(r, (x.BitLen()-1)*int(y.Int64()))
	return normalized(new(big.Int).Exp(x, y, nil))
}

func integerSize(r *run, bits int) {
	if bits > maxIntegerBits {
		r.exceed(nil, "an integer has more than %d bits", maxIntegerBits)
	}
}

func realArithmetic(r *run, op string, f, g float64) Value {
	switch op {
	case "+":
		return float(f + g)
	case "-":
		return float(f - g)
	case "*":
		return float(f * g)
	case "**":
		if f == 0 && g < 0 {
			r.fail("zero to a negative power")
		}
		p := math.Pow(f, g)
		if math.IsInf(p, 0) && !math.IsInf(f, 0) && !math.IsInf(g, 0) {
			r.fail("the result is too large")
		}
		if math.IsNaN(p) && !math.IsNaN(f) && !math.IsNaN(g) {
			r.fail("the result is a complex number")
		}
		return float(p)
	}
	if g == 0 {
		r.fail("division by zero")
	}
	if op == "/" {
		return float(f / g)
	}
	m := math.Mod(f, g)
	if m != 0 && (m < 0) != (g < 0) {
		m += g
	}
	if op == "%" {
		return float(m)
	}
	return float(math.Round((f - m) / g))
}
