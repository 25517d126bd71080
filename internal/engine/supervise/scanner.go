package supervise

import (
	"bytes"

	"github.com/gorizond/koldun/internal/engine"
)

// maxLine is the longest line in bytes, far above any line of an engine.
const maxLine = 1 << 10

// A scanner splits output into lines and removes prompts and completions. It
// buffers at most a line, and its result does not depend on the boundaries of
// writes. Set engine and the functions before use.
//
// A completion may contain the end mark itself. The text after it then counts as a
// line of the engine, so engine.Process.Classify must withhold unknown lines.
type scanner struct {
	engine *engine.Process
	// line is called for each line outside of text, without its line feed. ok is
	// false if it is longer than maxLine; then b is empty and n its length. b is
	// valid during the call.
	line func(b []byte, n int, ok bool)
	// text is called with the length of a prompt with its completion, in bytes.
	text func(n int)

	buf    []byte
	over   int // bytes of the line beyond buf
	window uint32
	inside bool
	ended  bool // whether the end mark came last
	size   int  // size of the text so far
}

// Write handles output. It never fails.
func (s *scanner) Write(p []byte) (int, error) {
	for _, c := range p {
		s.step(c)
	}
	return len(p), nil
}

// flush handles the rest without a line feed, at the end of the output.
func (s *scanner) flush() {
	if s.inside {
		s.leave()
		return
	}
	s.yield(0)
}

func (s *scanner) step(c byte) {
	s.window = s.window<<8 | uint32(c)
	if s.inside {
		s.stepInside(c)
		return
	}
	if c == '\n' {
		s.yield(0)
		return
	}
	s.keep(c)
	if s.at(s.engine.TextBegin) {
		s.yield(len(s.engine.TextBegin))
		s.inside = true
	}
}

func (s *scanner) stepInside(c byte) {
	s.size++
	if c != '\n' {
		s.ended = s.at(s.engine.TextEnd)
		s.keep(c)
		return
	}
	if s.ended {
		s.leave()
		return
	}
	// A completion that broke off has no end mark, but a known line follows it.
	if s.over == 0 && s.engine.Resumes(s.buf) {
		s.size -= len(s.buf) + 1
		line := bytes.Clone(s.buf)
		s.leave()
		s.line(line, len(line), true)
		return
	}
	s.clear()
}

// leave ends a text.
func (s *scanner) leave() {
	n := s.size
	s.inside, s.ended, s.size = false, false, 0
	s.clear()
	s.text(n)
}

// yield ends a line that ends with a mark of that length.
func (s *scanner) yield(mark int) {
	if n := len(s.buf) + s.over - mark; n > 0 {
		ok := s.over == 0
		b := s.buf[:max(len(s.buf)-mark, 0)]
		if !ok {
			b = nil
		}
		s.line(b, n, ok)
	}
	s.clear()
}

func (s *scanner) keep(c byte) {
	if len(s.buf) < maxLine {
		s.buf = append(s.buf, c)
		return
	}
	s.over++
}

func (s *scanner) clear() {
	s.buf, s.over = s.buf[:0], 0
}

// at reports whether the last four bytes are the mark.
func (s *scanner) at(mark string) bool {
	return s.window == uint32(mark[0])<<24|uint32(mark[1])<<16|uint32(mark[2])<<8|uint32(mark[3])
}
