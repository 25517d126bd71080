package tokenizer

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gorizond/koldun/internal/fault"
)

// Read reads a .t file up to its last token and ignores the rest of r. It
// allocates at most a small multiple of the bytes it has read. The error is
// Corrupt or Unsupported.
func Read(r io.Reader) (File, error) {
	d := &decoder{r: bufio.NewReaderSize(r, 1<<16)}
	f, err := d.file()
	if err == nil {
		err = d.err
	}
	if err == nil {
		if err = f.Validate(); err != nil {
			err = fault.As(fault.Corrupt, err)
		}
	}
	if err != nil {
		return File{}, fmt.Errorf("cannot read tokenizer: %w", err)
	}
	return f, nil
}

// A decoder reads numbers until the first error, which it keeps.
type decoder struct {
	r   *bufio.Reader
	off int64
	err error
}

func (d *decoder) full(b []byte, what string) {
	if d.err != nil {
		return
	}
	n, err := io.ReadFull(d.r, b)
	d.off += int64(n)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fault.Errorf(fault.Corrupt, "the file ends at byte %d, in %s", d.off, what)
	}
	d.err = err
}

func (d *decoder) number(what string) int {
	var b [4]byte
	d.full(b[:], what)
	return int(int32(binary.LittleEndian.Uint32(b[:])))
}

func (d *decoder) text(n int, what string) string {
	if d.err != nil {
		return ""
	}
	b := make([]byte, n)
	d.full(b, what)
	return string(b)
}

// check sets a Corrupt error unless v is between lo and hi.
func (d *decoder) check(what string, v, lo, hi int) {
	if d.err == nil && (v < lo || v > hi) {
		d.err = fault.Errorf(fault.Corrupt, "%s is %d, want %d to %d", what, v, lo, hi)
	}
}

func (d *decoder) file() (File, error) {
	m := d.number("the magic")
	if d.err != nil {
		return File{}, d.err
	}
	switch m {
	case magic:
	case oldMagic:
		return d.old(), d.err
	default:
		return File{}, fault.Errorf(fault.Corrupt, "magic is 0x%08x, want 0x%08x", uint32(m), magic)
	}
	var h header
	d.header(&h)
	f := File{BOS: h.bos, EOS: h.eos, AddBOS: h.addBOS}
	d.check("chat template length", h.template, 0, maxTemplate)
	f.ChatTemplate = d.text(h.template, "the chat template")
	d.skip(h.stop)
	d.check("number of eos ids", h.eosCount, 0, maxEOS)
	for i := 0; i < h.eosCount && d.err == nil; i++ {
		f.EOS = append(f.EOS, d.number("the eos ids"))
	}
	f.Tokens = d.tokens(h.vocab)
	return f, d.err
}

type header struct {
	vocab, bos, template, stop, eosCount int
	eos                                  []int
	addBOS                               bool
}

func (d *decoder) header(h *header) {
	size := d.number("the header size")
	d.check("header size", size, 8, 8+8*maxPairs)
	h.addBOS, h.bos = true, -1
	version := 0
	for i := 8; i < size && d.err == nil; i += 8 {
		key, v := d.number("the header"), d.number("the header")
		switch key {
		case keyVersion:
			version = v
		case keyVocabSize:
			h.vocab = v
		case keyBOS:
			h.bos = v
		case keyEOS, keyChatEOS:
			h.eos = append(h.eos, v)
		case keyChatTemplate:
			h.template = v
		case keyChatStop:
			h.stop = v
		case keyEOSCount:
			h.eosCount = v
		case keyAddBOS:
			h.addBOS = v != 0
		case keyMaxLength, keyPad:
		default:
			if d.err == nil {
				d.err = fault.Errorf(fault.Unsupported, "key %d at byte %d is not known", key, d.off-8)
			}
		}
	}
	if d.err == nil && version != 1 {
		d.err = fault.Errorf(fault.Unsupported, "version is %d, want 1", version)
	}
}

// old reads the format with five fixed numbers.
func (d *decoder) old() File {
	vocab := d.number("the header")
	d.number("the header") // longest token
	bos, eos := d.number("the header"), d.number("the header")
	d.number("the header") // padding token
	return File{BOS: bos, EOS: []int{eos}, AddBOS: true, Tokens: d.tokens(vocab)}
}

func (d *decoder) skip(n int) {
	d.check("chat stop length", n, 0, maxTemplate)
	if d.err != nil {
		return
	}
	skipped, err := d.r.Discard(n)
	d.off += int64(skipped)
	if err != nil {
		d.err = fault.Errorf(fault.Corrupt, "the file ends at byte %d, in the chat stop", d.off)
	}
}

func (d *decoder) tokens(n int) []Token {
	d.check("vocabulary size", n, 1, maxVocab)
	var tokens []Token
	for id := 0; id < n && d.err == nil; id++ {
		what := fmt.Sprintf("token %d of %d", id, n)
		score := math.Float32frombits(uint32(d.number(what)))
		length := d.number(what)
		d.check("length of token "+fmt.Sprint(id), length, 1, maxToken)
		tokens = append(tokens, Token{Text: d.text(length, what), Score: score})
	}
	return tokens
}
