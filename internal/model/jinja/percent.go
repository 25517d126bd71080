package jinja

import (
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// conversion matches a conversion of printf-style formatting: key, what comes
// before the type, precision and type.
var conversion = regexp.MustCompile(`^%(\([^)]*\))?([#0\- +]*[*\d]*(?:\.([*\d]*))?[hlL]?)(.?)`)

// percent is Python's t % values, without flags and widths.
func percent(r *run, t text, values Value) text {
	p := &printer{run: r, values: []Value{values}}
	if many, ok := values.(tuple); ok {
		p.values = many.items
	}
	p.mapping, _ = values.(*dict)
	out := builder{run: r}
	for t.s != "" {
		n := strings.IndexByte(t.s, '%')
		if n < 0 {
			break
		}
		out.write(t.cut(0, n))
		t = t.cut(n, len(t.s))
		m := conversion.FindStringSubmatch(t.s)
		out.write(p.convert(m))
		t = t.cut(len(m[0]), len(t.s))
	}
	out.write(t)
	if len(p.values) > 0 && p.mapping == nil {
		r.fail("not all arguments converted during string formatting")
	}
	return out.text().marked(t.safe)
}

// A printer takes the values of conversions.
type printer struct {
	run     *run
	values  []Value // that remain
	mapping *dict
}

func (p *printer) next() Value {
	if len(p.values) == 0 {
		p.run.fail("not enough arguments for format string")
	}
	v := p.values[0]
	p.values = p.values[1:]
	return v
}

func (p *printer) value(key string) Value {
	if key == "" {
		return p.next()
	}
	if p.mapping == nil {
		p.run.fail("format requires a mapping")
	}
	found, ok := p.mapping.text(key[1 : len(key)-1])
	if !ok {
		p.run.fail("there is no key %q", key)
	}
	return found
}

func (p *printer) convert(m []string) text {
	r, kind := p.run, m[4]
	if m[0] == "%%" {
		return text{s: "%"}
	}
	if kind == "" || m[2] != "" && (kind != "f" || m[2] != "."+m[3]) || !slices.Contains([]string{"s", "r", "d", "i", "f"}, kind) {
		failAt(Unsupported, r.line, "conversion \""+m[0]+"\"", "it is not supported in chat templates")
	}
	v := p.value(m[1])
	switch kind {
	case "s":
		return r.str(v)
	case "r":
		return r.repr(v)
	case "f":
		f, ok := asFloat(v)
		if !ok {
			r.use(v)
			r.fail("must be real number, not %s", v.typeName())
		}
		return text{s: fixed(r, f, m[3])}
	}
	i, ok := whole(v)
	if f, isFloat := v.(float); isFloat && !math.IsInf(float64(f), 0) && !math.IsNaN(float64(f)) {
		i, ok = floatToInt(float64(f)), true
	}
	if !ok {
		r.use(v)
		r.fail("%%%s format: an integer is required, not %s", kind, v.typeName())
	}
	return text{s: i.String()}
}

// fixed writes a number with a number of decimals, of which 6 is the default.
func fixed(r *run, f float64, precision string) string {
	switch {
	case math.IsInf(f, 0), math.IsNaN(f):
		return floatText(f)
	case precision == "":
		precision = "6"
	}
	n, err := strconv.Atoi(precision)
	if err != nil || n > 1000 {
		r.fail("precision %s is too big", precision)
	}
	return strconv.FormatFloat(f, 'f', n, 64)
}

// floatToInt drops the fraction of a finite number.
func floatToInt(f float64) *big.Int {
	i, _ := new(big.Float).SetFloat64(math.Trunc(f)).Int(nil)
	return i
}
