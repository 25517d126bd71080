package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/gorizond/koldun/internal/fault"
)

// Open reads length bytes of a file from offset; a negative length reads to
// the end. The caller closes the reader. It blocks until the answer begins, for as
// many attempts as that takes; a connection that breaks later ends the reader with
// a Transient error, never with io.EOF before the last byte.
func (c *Client) Open(ctx context.Context, repo, commit, path string, offset, length int64) (io.ReadCloser, error) {
	r, err := c.open(ctx, repo, commit, path, offset, length)
	if err != nil {
		return nil, fmt.Errorf("cannot read file %q of repository %q: %w", path, repo, err)
	}
	return r, nil
}

func (c *Client) open(ctx context.Context, repo, commit, path string, offset, length int64) (io.ReadCloser, error) {
	if offset < 0 {
		return nil, fault.Errorf(fault.Invalid, "offset %d is negative", offset)
	}
	if length == 0 {
		return io.NopCloser(strings.NewReader("")), nil
	}
	at := c.url(repo, "resolve", url.PathEscape(commit), escapePath(path))
	header := http.Header{}
	switch {
	case length > 0:
		header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	case offset > 0:
		header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	resp, err := c.locate(ctx, at, header)
	if err != nil {
		return nil, err
	}
	n, err := bodyLen(resp, offset, length)
	if err != nil {
		discard(resp)
		return nil, err
	}
	return &body{ctx: ctx, resp: resp, left: n}, nil
}

// locate asks the hub once for the address of a file and then uses that, because
// each request counts against the hub's limits. It asks again when the address has
// expired.
func (c *Client) locate(ctx context.Context, at *url.URL, header http.Header) (*http.Response, error) {
	key := at.String()
	if known := c.cache.get(key); known != nil {
		resp, err := c.follow(ctx, known, header)
		if err == nil {
			return resp, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.cache.drop(key)
	}
	resp, err := c.do(ctx, at, header)
	if err != nil {
		return nil, err
	}
	if resp.Request.URL.Host != at.Host || resp.Request.URL.Path != at.Path {
		c.cache.put(key, resp.Request.URL)
	}
	return resp, nil
}

// ReadFile reads a whole small file. A file of more than limit bytes is
// Unsupported.
func (c *Client) ReadFile(ctx context.Context, repo, commit, path string, limit int64) ([]byte, error) {
	r, err := c.Open(ctx, repo, commit, path, 0, -1)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read file %q of repository %q: %w", path, repo, err)
	}
	if int64(len(b)) > limit {
		return nil, fault.Errorf(fault.Unsupported, "cannot read file %q of repository %q: it has more than %d bytes", path, repo, limit)
	}
	return b, nil
}

// bodyLen returns the length of an answer in bytes; -1 if only the end of the
// stream shows it.
func bodyLen(resp *http.Response, offset, length int64) (int64, error) {
	switch resp.StatusCode {
	case http.StatusPartialContent:
		first, last, err := contentRange(resp.Header.Get("Content-Range"))
		if err != nil || first != offset || (length > 0 && last != offset+length-1) {
			return 0, fault.Errorf(fault.Transient, "%s answers with range %q, asked for %d bytes from %d",
				resp.Request.URL.Host, resp.Header.Get("Content-Range"), length, offset)
		}
		return last - first + 1, nil
	case http.StatusOK:
		if offset > 0 {
			return 0, fault.Errorf(fault.Unsupported, "%s cannot send parts of files", resp.Request.URL.Host)
		}
		if length > 0 {
			return length, nil
		}
		return resp.ContentLength, nil
	}
	return 0, fault.Errorf(fault.Transient, "%s answers HTTP %d", resp.Request.URL.Host, resp.StatusCode)
}

// contentRange reads "bytes 0-499/1234" (RFC 9110 section 14.4).
func contentRange(v string) (first, last int64, err error) {
	spec, ok := strings.CutPrefix(v, "bytes ")
	span, _, ok2 := strings.Cut(spec, "/")
	from, to, ok3 := strings.Cut(span, "-")
	if !ok || !ok2 || !ok3 {
		return 0, 0, errors.New("not a byte range")
	}
	first, err1 := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return 0, 0, err
	}
	if first < 0 || last < first {
		return 0, 0, errors.New("an empty byte range")
	}
	return first, last, nil
}

// A body reads exactly the requested bytes.
type body struct {
	ctx  context.Context //nolint:containedctx // the request's own
	resp *http.Response
	left int64 // -1: until the stream ends
}

func (b *body) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	if b.left > 0 && int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.resp.Body.Read(p)
	if b.left > 0 {
		b.left -= int64(n)
	}
	switch {
	case err == nil:
		return n, nil
	case b.left == 0, errors.Is(err, io.EOF) && b.left < 0:
		return n, io.EOF
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return n, netError(b.ctx, b.resp.Request.URL, err)
}

func (b *body) Close() error { return b.resp.Body.Close() }

func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// locations caches the addresses that the hub redirects to, for a bounded number
// of files.
type locations struct {
	mu   sync.Mutex
	urls map[string]*url.URL
}

const maxLocations = 1024

func (l *locations) get(key string) *url.URL {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.urls[key]
}

func (l *locations) put(key string, u *url.URL) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.urls) >= maxLocations {
		clear(l.urls)
	}
	l.urls[key] = u
}

func (l *locations) drop(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.urls, key)
}
