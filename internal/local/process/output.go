package process

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
)

// An output copies one stream of a process to writers that never fail. It has its
// own pipe, because os/exec would wait for all processes that inherit the pipe.
type output struct {
	reader, writer *os.File
	copied         chan struct{}
}

func newOutput(log *Log, others ...io.Writer) (*output, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if log != nil {
		others = append(others, log)
	}
	o := &output{reader: r, writer: w, copied: make(chan struct{})}
	go func() {
		defer close(o.copied)
		_, _ = io.Copy(io.MultiWriter(others...), r)
	}()
	return o, nil
}

// drain copies the rest when the process has exited.
func (o *output) drain() {
	_ = o.writer.Close()
	_ = o.reader.SetReadDeadline(time.Now().Add(drainTime))
	<-o.copied
	_ = o.reader.Close()
}

const (
	maxLine  = 4 << 10 // bytes of a line that are examined
	maxWords = 400     // bytes of a line that are reported
)

// A tail remembers the last meaningful line of a stream.
type tail struct {
	mu      sync.Mutex
	partial []byte
	last    string
	panic   string // the line before a stack trace, which matters more than its end
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range p {
		if c == '\n' {
			t.end()
			continue
		}
		if len(t.partial) < maxLine {
			t.partial = append(t.partial, c)
		}
	}
	return len(p), nil
}

func (t *tail) end() {
	line := strings.TrimSpace(strings.Map(printable, strings.ToValidUTF8(string(t.partial), "?")))
	t.partial = t.partial[:0]
	switch {
	case line == "":
	case t.panic == "" && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")):
		t.panic = line
	default:
		t.last = line
	}
}

// printable drops control characters.
func printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsControl(r):
		return -1
	}
	return r
}

// line returns the panic, or the last line.
func (t *tail) line() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end()
	line := t.last
	if t.panic != "" {
		line = t.panic
	}
	if len(line) > maxWords {
		line = strings.ToValidUTF8(line[:maxWords], "") + "..."
	}
	return line
}
