package objectstore

import (
	"errors"
	"io"
)

// ExactReader returns a reader of exactly length bytes of r; a stream that
// ends before fails with io.ErrUnexpectedEOF. wrap adds a name and a fault kind
// to errors. Closing the reader closes r.
func ExactReader(r io.ReadCloser, length int64, wrap func(error) error) io.ReadCloser {
	return &exactReader{r: r, left: length, wrap: wrap}
}

type exactReader struct {
	r    io.ReadCloser
	left int64 // bytes
	wrap func(error) error
}

func (e *exactReader) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > e.left {
		p = p[:e.left]
	}
	n, err := e.r.Read(p)
	e.left -= int64(n)
	switch {
	case err == nil:
		return n, nil
	case e.left <= 0:
		return n, io.EOF
	case errors.Is(err, io.EOF):
		return n, e.wrap(io.ErrUnexpectedEOF)
	}
	return n, e.wrap(err)
}

func (e *exactReader) Close() error { return e.r.Close() }
