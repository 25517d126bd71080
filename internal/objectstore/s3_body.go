package objectstore

import (
	"bytes"
	"io"
	"sync"
)

// lentBody lends out bytes until detach: the HTTP client may go on reading the
// body of a request that has failed (net/http, RoundTripper), while the owner
// of the memory fills it with something else.
type lentBody struct {
	mu sync.Mutex
	r  *bytes.Reader
}

func (b *lentBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.r == nil {
		return 0, io.ErrClosedPipe
	}
	return b.r.Read(p)
}

func (b *lentBody) Seek(offset int64, whence int) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.r == nil {
		return 0, io.ErrClosedPipe
	}
	return b.r.Seek(offset, whence)
}

func (b *lentBody) detach() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.r = nil
}
