package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/fault"
)

// isRefusal reports whether the server refused the credentials. It does so at
// once and repeatedly, until the credentials are corrected.
func isRefusal(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) ||
		errors.Is(err, nats.ErrAccountAuthExpired)
}

// faultLevel returns the level at which a fault is logged that the server reports. A
// missing right is a warning, whose text names the subject, unless it is that of an
// answer: the server forgets with a connection to which messages it may have one.
func faultLevel(err error) slog.Level {
	if errors.Is(err, nats.ErrPermissionViolation) && !strings.Contains(err.Error(), "Publish to \"_INBOX") {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// refused returns an error that names the refused client.
func (c Config) refused(err error) error {
	return fault.Errorf(fault.Denied, "the server refuses %s: %w", c.who(), err)
}

// who describes the credentials of a client without secrets.
func (c Config) who() string {
	first, _, _ := strings.Cut(c.URL, ",")
	if u, err := url.Parse(strings.TrimSpace(first)); err == nil && u.User != nil {
		if _, ok := u.User.Password(); ok {
			return fmt.Sprintf("user %q with the password in its URL", u.User.Username())
		}
		return "the token in its URL"
	}
	switch {
	case c.User != "":
		return fmt.Sprintf("user %q with its password", c.User)
	case c.Token != "":
		return "the token"
	case c.NKeySeed != "":
		return "the nkey"
	case c.CredsFile != "":
		return fmt.Sprintf("the credentials file %q", c.CredsFile)
	case c.Creds != "":
		return "the credentials file that was given as text"
	case c.Cert != "":
		return "the client certificate"
	}
	return "a client without credentials"
}

// A patience tracks consecutive refusals, and runs out when they last too long.
type patience struct {
	limit time.Duration

	mu    sync.Mutex
	since time.Time // of the first refusal; zero while the server accepts the client
	last  error
	out   chan struct{} // closed when refusals have lasted for limit
	why   error         // set then
}

func newPatience(limit time.Duration) *patience {
	return &patience{limit: limit, out: make(chan struct{})}
}

// refused records a refusal, which repeats with each attempt to connect.
func (p *patience) refused(err error) (first, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = err
	if first = p.since.IsZero(); first {
		p.since = time.Now()
	}
	select {
	case <-p.out:
		return first, true
	default:
	}
	if over = time.Since(p.since) >= p.limit; over {
		p.why = err
		close(p.out)
	}
	return first, over
}

// end runs the patience out at once.
func (p *patience) end(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.out:
	default:
		p.why = why
		close(p.out)
	}
}

func (p *patience) accepted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since, p.last = time.Time{}, nil
}

func (p *patience) refusal() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// Lost returns nil while the connection is up. Otherwise it returns the cause of
// the loss: Denied if the server now refuses the credentials, else Transient.
func (c *connection) Lost() error {
	if c.Connected() {
		return nil
	}
	if err := c.patience.refusal(); err != nil {
		return err
	}
	return fault.Errorf(fault.Transient, "the connection is lost and being restored")
}

// Admitted returns a context that ends with ctx, or with a cause of kind Denied
// when the server has refused this client for Config.Patience. The caller must
// call stop, which returns that cause, or nil.
func (c *connection) Admitted(ctx context.Context) (admitted context.Context, stop func() error) {
	admitted, cancel := context.WithCancelCause(ctx)
	done := make(chan error, 1)
	go func() { // ends at the latest with stop
		select {
		case <-c.patience.out:
			err := fmt.Errorf("cannot use NATS at %q any longer: %w", c.shown, c.patience.why)
			cancel(err)
			done <- err
		case <-admitted.Done():
			done <- nil
		}
	}()
	return admitted, func() error { cancel(nil); return <-done }
}
