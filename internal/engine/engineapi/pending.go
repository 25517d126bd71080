package engineapi

import "github.com/gorizond/koldun/internal/openai"

// pending collects pieces of an answer, to pass them on together. The zero value is
// ready.
type pending struct{ delta Delta }

// fits reports whether a piece may be added without a change of the order.
func (p *pending) fits(text string, parts *openai.Parts) bool {
	return p.delta.Parts.Precedes(p.delta.Text != "", text, parts)
}

// add adds a piece.
func (p *pending) add(text string, parts *openai.Parts) {
	p.delta.Pieces++
	p.delta.Text += text
	if parts == nil {
		return
	}
	if p.delta.Parts == nil {
		p.delta.Parts = &openai.Parts{}
	}
	p.delta.Parts.Add(parts)
}

// size returns about how many bytes there are.
func (p *pending) size() int { return len(p.delta.Text) + p.delta.Parts.Size() }

// take returns what there is, and reports whether there is something.
func (p *pending) take() (Delta, bool) {
	d := p.delta
	p.delta = Delta{}
	return d, d.Pieces > 0
}
