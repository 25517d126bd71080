package jinja

import "slices"

// A builder joins texts and keeps what comes from where. It charges the run
// for the bytes.
type builder struct {
	run     *run
	bytes   []byte
	data    []span
	charged int
}

// write appends a text.
func (b *builder) write(t text) {
	at := len(b.bytes)
	b.bytes = append(b.bytes, t.s...)
	t.spans(func(start, end int) { b.mark(at+start, at+end) })
	b.charge()
}

// literal appends bytes that do not come from data.
func (b *builder) literal(s string) {
	b.bytes = append(b.bytes, s...)
	b.charge()
}

// foreign appends bytes that come from data if from is not a literal.
func (b *builder) foreign(s string, from text) {
	at := len(b.bytes)
	b.bytes = append(b.bytes, s...)
	if len(from.data) > 0 && s != "" {
		b.mark(at, len(b.bytes))
	}
	b.charge()
}

func (b *builder) mark(start, end int) {
	if n := len(b.data); n > 0 && b.data[n-1].end == start {
		b.data[n-1].end = end
		return
	}
	b.data = append(b.data, span{start, end})
}

// charge accounts for appended bytes, in steps so that short writes are cheap.
func (b *builder) charge() {
	if grown := len(b.bytes) - b.charged; grown >= 256 {
		b.run.charge(grown)
		b.charged = len(b.bytes)
	}
}

func (b *builder) text() text {
	b.run.charge(len(b.bytes) - b.charged)
	b.charged = len(b.bytes)
	return text{s: string(b.bytes), data: slices.Clip(b.data)}
}

// join concatenates texts.
func (r *run) join(texts ...text) text {
	b := builder{run: r}
	for _, t := range texts {
		b.write(t)
	}
	return b.text()
}
