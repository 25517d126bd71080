package toolcall

import (
	"bytes"
	"crypto/rand"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// MaxCall is the most bytes that a call may have. What is longer is text.
const MaxCall = 1 << 20

// Options adjust a Parser.
type Options struct {
	Tools  []Tool // that may be called
	Single bool   // only the first call counts
	// NewID returns the id of the next call; nil is random ones.
	NewID func() string
}

// A Piece is the next part of an answer: text, then pieces of calls.
type Piece struct {
	Text  string
	Calls []openai.ToolCall
}

// A Parser finds calls in the text of an answer, which comes in pieces of any
// size. Calls count after the thoughts of the model only, and only those of known
// tools. Text that looks like a call and is none stays text.
//
// A call begins once its name is known and its arguments begin; they follow as the
// model writes them. If they turn out not to be JSON, the call keeps those that it
// has, the rest is text, and the call does not count (Called).
//
// A Parser holds back only what may belong to a call. It is not safe for
// concurrent use.
type Parser struct {
	grammar grammar
	options Options
	tools   map[string]Tool

	phase phase
	buf   []byte // not decided yet
	block block  // in the phase calling
	// raw is what the block has read since its last call, to be text if there is no
	// call in it.
	raw  []byte
	open bool // a call has begun and not ended

	index  int // of the next call
	called int // calls that are whole
	inside int // calls that the block has had
	size   int // bytes of arguments of the open call
	pieces []Piece
}

type phase int

const (
	beginning phase = iota // nothing but space has come
	thinking
	writing // text, which may hold calls
	calling // in a block of calls
	only    // text, whatever comes
	over    // nothing counts any more
)

// A block reads the text after a start sign.
type block interface {
	// read takes bytes from the start of in, returns how many, and what it found. It
	// returns after each event. After more it is called again with the bytes that it
	// has not taken, and those that came since.
	read(in []byte) (n int, v verdict)
}

type verdict int

const (
	more    verdict = iota
	began           // a call has begun
	ended           // a call has ended
	between         // what ends a call has been read
	done            // the block has ended
	broken          // this is no block of calls
)

// NewParser returns a Parser of one answer.
func NewParser(f Family, o Options) *Parser {
	p := &Parser{grammar: f.grammar(), options: o, tools: make(map[string]Tool, len(o.Tools))}
	for _, t := range o.Tools {
		p.tools[t.Name] = t
	}
	if p.options.NewID == nil {
		p.options.NewID = func() string { return "call_" + rand.Text() }
	}
	return p
}

// Called reports whether the answer holds a whole call.
func (p *Parser) Called() bool { return p.called > 0 }

// Over reports whether nothing that follows counts.
func (p *Parser) Over() bool { return p.phase == over }

// Push takes the next text. The pieces are valid until the next call.
func (p *Parser) Push(text string) []Piece {
	p.pieces = p.pieces[:0]
	p.buf = append(p.buf, text...)
	for p.advance() {
	}
	return p.pieces
}

// Rest returns what is held back, once the whole text has come.
func (p *Parser) Rest() []Piece {
	p.pieces = p.pieces[:0]
	rest := string(p.raw) + string(p.buf)
	switch {
	case p.phase == over:
		rest = ""
	case p.called > 0 && strings.TrimSpace(rest) == "":
		rest = "" // between calls, or after the last
	}
	p.raw, p.buf = nil, nil
	p.text(rest)
	return p.pieces
}

// advance makes one step, and reports whether there may be another.
func (p *Parser) advance() bool {
	switch p.phase {
	case over:
		p.buf = p.buf[:0]
	case only:
		p.take(len(p.buf))
	case beginning:
		return p.begin()
	case thinking:
		return p.think()
	case writing:
		return p.write()
	case calling:
		return p.read()
	}
	return false
}

// begin decides what the answer begins with.
func (p *Parser) begin() bool {
	text := bytes.TrimLeft(p.buf, " \t\r\n")
	if len(text) == 0 {
		return false
	}
	for _, open := range thinkOpen {
		if bytes.HasPrefix(text, []byte(open)) {
			p.take(len(p.buf) - len(text) + len(open))
			p.phase = thinking
			return true
		}
		if strings.HasPrefix(open, string(text)) {
			return false
		}
	}
	for _, first := range p.grammar.first {
		if bytes.HasPrefix(text, []byte(first)) {
			p.enter(len(p.buf)-len(text), 0)
			return true
		}
		if strings.HasPrefix(first, string(text)) {
			return false
		}
	}
	p.phase = writing
	return true
}

var (
	thinkOpen  = []string{"<think>", "[THINK]"}
	thinkClose = []string{"</think>", "[/THINK]"}
)

// think passes on thoughts.
func (p *Parser) think() bool {
	if at, size := find(p.buf, thinkClose); at >= 0 {
		p.take(at + size)
		p.phase = beginning
		return true
	}
	p.take(len(p.buf) - partial(p.buf, thinkClose))
	return false
}

// write passes on text up to a start sign. It holds back spaces, which do not
// count before a call.
func (p *Parser) write() bool {
	if at, size := find(p.buf, p.grammar.signs); at >= 0 {
		before := bytes.TrimRight(p.buf[:at], " \t\r\n")
		p.text(string(before))
		p.drop(len(before))
		p.enter(at-len(before), size)
		return true
	}
	sure := len(p.buf) - partial(p.buf, p.grammar.signs)
	p.take(len(bytes.TrimRight(p.buf[:sure], " \t\r\n")))
	return false
}

// enter begins a block after the given spaces, and a sign of the given size.
func (p *Parser) enter(spaces, sign int) {
	p.phase, p.block, p.inside = calling, p.grammar.block(p), 0
	p.raw = append(p.raw[:0], p.buf[:spaces+sign]...)
	if string(p.buf[spaces:spaces+sign]) == coderBegin { // which begins a call by itself
		p.raw, sign = p.raw[:spaces], 0
	}
	p.drop(spaces + sign)
}

// read lets the block read.
func (p *Parser) read() bool {
	n, v := p.block.read(p.buf)
	if !p.open {
		p.raw = append(p.raw, p.buf[:n]...)
	}
	p.drop(n)
	if v == more && len(p.raw)+len(p.buf)+p.size > MaxCall {
		v = broken
	}
	switch v {
	case more:
		return false
	case began, between:
		p.raw = p.raw[:0]
	case ended:
		p.raw, p.open, p.size = p.raw[:0], false, 0
		p.called++
		p.inside++
		if p.options.Single {
			p.phase = over
		}
	case done:
		if p.inside == 0 {
			p.fail()
			return true
		}
		p.raw, p.phase = p.raw[:0], writing
	case broken:
		p.fail()
	}
	return true
}

// fail makes text of what is no call.
func (p *Parser) fail() {
	p.text(string(p.raw))
	p.raw, p.open, p.size = p.raw[:0], false, 0
	p.phase = writing
	if len(p.grammar.signs) == 0 {
		p.phase = only
	}
}

// start begins a call, if the tool is known.
func (p *Parser) start(name string) bool {
	if _, known := p.tools[name]; !known {
		return false
	}
	p.open = true
	p.call(openai.ToolCall{Index: p.index, ID: p.options.NewID(), Type: "function", Function: openai.ToolFunction{Name: name}})
	p.index++
	return true
}

// arguments adds to the call that began last.
func (p *Parser) arguments(text []byte) {
	if len(text) == 0 {
		return
	}
	p.size += len(text)
	p.call(openai.ToolCall{Index: p.index - 1, Function: openai.ToolFunction{Arguments: string(text)}})
}

func (p *Parser) call(c openai.ToolCall) {
	if len(p.pieces) == 0 {
		p.pieces = append(p.pieces, Piece{})
	}
	last := &p.pieces[len(p.pieces)-1]
	if n := len(last.Calls); n > 0 && last.Calls[n-1].Index == c.Index {
		last.Calls[n-1].Function.Arguments += c.Function.Arguments
		return
	}
	last.Calls = append(last.Calls, c)
}

func (p *Parser) text(s string) {
	if s == "" {
		return
	}
	if n := len(p.pieces); n > 0 && len(p.pieces[n-1].Calls) == 0 {
		p.pieces[n-1].Text += s
		return
	}
	p.pieces = append(p.pieces, Piece{Text: s})
}

// take makes text of the first n bytes.
func (p *Parser) take(n int) {
	p.text(string(p.buf[:n]))
	p.drop(n)
}

func (p *Parser) drop(n int) { p.buf = p.buf[:copy(p.buf, p.buf[n:])] }

// find returns where the first of some texts begins, and its size; -1 if there is
// none.
func find(in []byte, texts []string) (at, size int) {
	at = -1
	for _, t := range texts {
		if i := bytes.Index(in, []byte(t)); i >= 0 && (at < 0 || i < at) {
			at, size = i, len(t)
		}
	}
	return at, size
}

// partial returns the length of the longest end of in with which one of the texts
// begins.
func partial(in []byte, texts []string) int {
	most := 0
	for _, t := range texts {
		for n := min(len(in), len(t)-1); n > most; n-- {
			if strings.HasPrefix(t, string(in[len(in)-n:])) {
				most = n
				break
			}
		}
	}
	return most
}
