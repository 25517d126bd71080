package s3

import (
	"bytes"
	"io"
	"sync"
)

// A lentBody reads the caller's bytes until detach: an HTTP client may read the
// body of a failed request after the call (net/http, RoundTripper), while the
// caller already reuses the memory.
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
