package objectstore

import (
	"errors"
	"io"
)

// exactReader gives exactly left bytes of r: a stream that ends before fails
// with io.ErrUnexpectedEOF.
type exactReader struct {
	r    io.ReadCloser
	left int64
	wrap func(error) error // puts a name and a kind on errors
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
