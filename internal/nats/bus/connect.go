package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gorizond/koldun/internal/backoff"
	"github.com/gorizond/koldun/internal/fault"
)

const (
	minBackoff  = 100 * time.Millisecond
	maxBackoff  = 2 * time.Second
	dialTimeout = 5 * time.Second
	// hostTimeout limits one address of a server, because the next may answer.
	hostTimeout  = 2 * time.Second
	pingInterval = 10 * time.Second
	closeFlush   = time.Second
	flushTimeout = 5 * time.Second
	// apiTimeout limits each request to the server, because its answer is lost
	// with the connection.
	apiTimeout   = 5 * time.Second
	pendingBytes = 16 << 20 // held while reconnecting
)

// Connect blocks until a server of version 2.11 or newer with JetStream answers.
// It retries with growing pauses until ctx ends. Then the connection reconnects
// automatically. Errors: Invalid (URL), NotFound (credentials file), Unsupported
// (server too old or without JetStream), Denied (credentials refused for
// Config.Patience); when ctx ends, the kind of the last cause.
func Connect(ctx context.Context, cfg Config) (*Bus, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	shown, err := redact(cfg.URL)
	if err != nil {
		return nil, err
	}
	b := &Bus{connection: connection{
		log:      cfg.Logger,
		shown:    shown,
		patience: newPatience(cfg.Patience),
		stop:     func() {},
		renewed:  make(chan struct{}),
	}}
	c := &b.connection
	from, err := cfg.source()
	if err != nil {
		return nil, err
	}
	var last error
	for attempt := 0; ; attempt++ {
		err := c.dial(ctx, cfg, from)
		if ctx.Err() != nil && last != nil && errors.Is(err, ctx.Err()) {
			err = last // ctx cut this attempt short
		}
		if last = err; err == nil {
			cfg.Logger.Debug("connected to NATS", "url", shown)
			if from != nil && from.file != "" {
				c.stop = beside(func(ctx context.Context) { c.follow(ctx, from) })
			}
			return b.ready(), nil
		}
		if fault.Is(err, fault.Unsupported) || fault.Is(err, fault.Invalid) {
			return nil, fmt.Errorf("cannot use NATS at %q: %w", shown, err)
		}
		first, over := false, false
		if isRefusal(err) {
			err = cfg.refused(err)
			first, over = c.patience.refused(err)
		}
		if over {
			return nil, fmt.Errorf("cannot connect to NATS at %q: %w", shown, err)
		}
		if first || attempt%20 == 0 {
			cfg.Logger.Warn("cannot connect to NATS yet", "url", shown, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil, fault.Errorf(KindAtEnd(ctx, err), "cannot connect to NATS at %q: %w", shown, err)
		case <-time.After(Backoff(attempt)):
		}
	}
}

// beside runs f until the returned function is called, which waits for its end.
func beside(f func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(ctx)
	}()
	return func() { cancel(); <-done }
}

// Backoff returns the pause after failed attempt n, counted from 0. It grows to
// two seconds and has jitter, so that clients do not retry at the same time.
func Backoff(n int) time.Duration {
	return backoff.Policy{First: minBackoff, Most: maxBackoff}.After(n + 1)
}

// KindAtEnd returns the kind of the error when ctx has ended and err is the last
// error before.
func KindAtEnd(ctx context.Context, err error) fault.Kind {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fault.Interrupted
	}
	return fault.KindOf(err)
}
