package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/backoff"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/network/linklocal"
)

// errNotHTTP stands for an answer that is none of HTTP.
var errNotHTTP = errors.New("it does not answer as a server of HTTP does")

// maxShown is how many bytes of an address are shown that a server sent.
const maxShown = 100

// errPatience ends the attempts: the host asks for a longer pause than allowed.
var errPatience = errors.New("that is longer than allowed")

// do sends a GET, with at most cfg.Attempts attempts. The answer has a 2xx status;
// the caller closes its body.
func (c *Client) do(ctx context.Context, to *url.URL, header http.Header) (*http.Response, error) {
	var last error
	for try := 1; ; try++ {
		resp, err := c.follow(ctx, to, header)
		if err == nil {
			return resp, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		last = err
		if fault.Final(err) || try == c.cfg.Attempts || errors.Is(err, errPatience) {
			break
		}
		pause := backoff.Policy{First: firstPause, Most: longestPause, Rand: c.cfg.Rand}.After(try)
		c.cfg.Log.LogAttrs(ctx, levelRetry, "retrying hub request", attrs(try, pause, err)...)
		if err := c.cfg.Sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
	return nil, last
}

// follow sends one request and its redirects.
func (c *Client) follow(ctx context.Context, to *url.URL, header http.Header) (*http.Response, error) {
	for range maxRedirects {
		resp, err := c.send(ctx, to, header)
		if err != nil {
			return nil, err
		}
		if !redirects(resp.StatusCode) {
			return resp, nil
		}
		location := resp.Header.Get("Location")
		discard(resp)
		next, err := to.Parse(location)
		if err != nil || location == "" || next.Host == "" || (next.Scheme != "http" && next.Scheme != "https") {
			return nil, fault.Errorf(fault.Corrupt, "%s redirects to %q, which is no address", to.Host, location[:min(len(location), maxShown)])
		}
		if to.Scheme == "https" && next.Scheme == "http" {
			return nil, fault.Errorf(fault.Invalid, "%s redirects to unencrypted %s, which is not followed", to.Host, next.Host)
		}
		to = next
	}
	return nil, fault.Errorf(fault.Transient, "%s redirects more than %d times", c.base.Host, maxRedirects)
}

// send sends one request, after the pause that its host asked for. It returns
// answers of 400 and above as errors.
func (c *Client) send(ctx context.Context, to *url.URL, header http.Header) (*http.Response, error) {
	for {
		pause := c.gates.wait(to.Host, c.cfg.Now())
		if pause == 0 {
			break
		}
		if pause > c.cfg.MaxWait {
			return nil, fault.Errorf(fault.Transient, "%s asks for a pause of %s: %w", to.Host, pause.Round(time.Second), errPatience)
		}
		// Requests that wait for the same time must not go on at the same time.
		pause += time.Duration(c.cfg.Rand() * float64(firstPause))
		if err := c.cfg.Sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return nil, fault.As(fault.Invalid, err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	req.Header.Set("User-Agent", "koldun")
	req.Header.Set("Accept-Encoding", "identity")
	if c.cfg.Token != "" && c.mayHaveToken(to) {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, netError(ctx, to, err)
	}
	if pause := toldWait(resp.Header, resp.StatusCode == http.StatusTooManyRequests, c.cfg.Now()); pause > 0 {
		c.gates.shut(to.Host, c.cfg.Now().Add(pause))
	}
	if resp.StatusCode >= 400 {
		err := c.answerError(resp)
		discard(resp)
		return nil, err
	}
	return resp, nil
}

// mayHaveToken reports whether an address has the endpoint's scheme, host and
// port.
func (c *Client) mayHaveToken(to *url.URL) bool {
	return to.Scheme == c.base.Scheme && to.Host == c.base.Host
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// discard reads the rest of a short body, so that the connection can be reused.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	_ = resp.Body.Close()
}

// netError hides the address of a failed request: signed addresses of storage
// hosts are secrets.
func netError(ctx context.Context, to *url.URL, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	kind := fault.Transient
	var cert *tls.CertificateVerificationError
	if errors.As(err, &cert) {
		kind = fault.Denied
	}
	var address addressError
	var local linklocal.Error
	switch {
	case errors.As(err, &address):
		return fault.Errorf(fault.Invalid, "cannot use %s: %w", to.Host, address)
	case errors.As(err, &local):
		return fault.Errorf(fault.Invalid, "cannot use %s: %w", to.Host, local)
	}
	if strings.Contains(err.Error(), "malformed HTTP") { // the text has what the server sent
		err = errNotHTTP
	}
	return fault.Errorf(kind, "cannot reach %s: %w", to.Host, err)
}
