package jinja

import (
	"context"
	"strings"
	"time"
)

// MaxSource is the longest template that Parse accepts, in bytes.
const MaxSource = 1 << 20

// A Template is a parsed template. It is safe for concurrent use.
type Template struct {
	body    []stmt
	filters map[string]filter
	tests   map[string]test
	methods map[string]method // of texts
}

// Parse parses a template. The error is an *Error.
func Parse(source string) (t *Template, err error) {
	defer catch(&err)
	if len(source) > MaxSource {
		failAt(Exceeded, 1, "", "the template has %d bytes, want at most %d", len(source), MaxSource)
	}
	p := &parser{expressionParser: expressionParser{cursor: cursor{tokens: lex(strings.ToValidUTF8(source, "\uFFFD"))}, filters: filters()}}
	return &Template{body: p.template(), filters: p.filters, tests: tests, methods: textMethods()}, nil
}

// A Render says with what a template is rendered.
type Render struct {
	Vars   []Pair // variables by name
	Limits Limits // the zero value means DefaultLimits
	Now    func() time.Time
}

// Render renders the template. The error is an *Error; Raised is one of the
// template's own.
func (t *Template) Render(ctx context.Context, o Render) (out Output, err error) {
	defer catch(&err)
	if o.Limits == (Limits{}) {
		o.Limits = DefaultLimits()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &run{ctx: ctx, template: t, left: o.Limits, max: o.Limits, now: o.Now, vars: Dict(o.Vars...).(*dict), line: 1}
	b := builder{run: r}
	execAll(r, &scope{}, &b, t.body)
	return Output{b.text()}, nil
}

// An Output is the text that a template writes.
type Output struct{ text text }

// String returns the whole text.
func (o Output) String() string { return o.text.s }

// A Segment is a part of an Output.
type Segment struct {
	Text    string
	Foreign bool // it comes from values made by Text or Decode, not from the template
}

// Segments returns the parts of the text in order. Neighbours differ in their
// origin.
func (o Output) Segments() []Segment {
	var out []Segment
	at := 0
	add := func(end int, foreign bool) {
		if at < end {
			out = append(out, Segment{o.text.s[at:end], foreign})
		}
		at = end
	}
	o.text.spans(func(start, end int) {
		add(start, false)
		add(end, true)
	})
	add(len(o.text.s), false)
	return out
}
