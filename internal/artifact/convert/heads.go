package convert

import (
	"io"
)

// A headReader reorders the rows of each head: Hugging Face stores the rotated
// pairs of a head as two halves, distributed-llama's Llama side by side, so that
// rows j and j + half of a head become rows 2j and 2j+1.
//
// It reads whole heads from r into buf and returns them in the new order.
type headReader struct {
	r   io.Reader
	buf []byte // one head, in the source's order
	row int    // bytes of a row
	at  int    // bytes of the head, in the new order, returned so far
}

// newHeadReader begins at the start of a head. It reads len(head) bytes at a time
// from r, in rows of row bytes.
func newHeadReader(r io.Reader, head []byte, row int) *headReader {
	return &headReader{r: r, buf: head, row: row, at: len(head)}
}

func (h *headReader) Read(p []byte) (int, error) {
	if h.at == len(h.buf) {
		if _, err := io.ReadFull(h.r, h.buf); err != nil {
			return 0, err
		}
		h.at = 0
	}
	n := 0
	for n < len(p) && h.at < len(h.buf) {
		from := h.sourceRow(h.at/h.row)*h.row + h.at%h.row
		k := copy(p[n:], h.buf[from:from+h.row-h.at%h.row])
		n += k
		h.at += k
	}
	return n, nil
}

func (h *headReader) sourceRow(row int) int {
	return sourceRow(row, len(h.buf)/h.row)
}

// sourceRow returns the source row that becomes row r of a head.
func sourceRow(r, rows int) int { return r%2*(rows/2) + r/2 }
