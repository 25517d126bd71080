// Package httpserver holds what every HTTP server of Koldun needs and none
// should write a second time: sane timeouts, an end that is graceful and
// bounded, and the health endpoints.
package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

const (
	defaultGrace = 15 * time.Second
	// lastWords is how long handlers have, once the grace is over and their
	// context has ended, to tell their client so.
	lastWords = time.Second

	defaultHeaderTimeout = 10 * time.Second
	idleTimeout          = 2 * time.Minute
	maxHeaderBytes       = 64 << 10 // 64 KiB
)

// ErrShutdown is the cause of a request context that ends because the server
// does.
var ErrShutdown = errors.New("the server is shutting down")

// Options adjust Serve. The zero value is usable.
type Options struct {
	Name   string        // of the server, in logs: "api", "health"
	Grace  time.Duration // how long running requests may go on once ctx has ended; 0 means 15 s
	Logger *slog.Logger  // nil means slog.Default()
	// HeaderTimeout is how long a client may take to send the header of a
	// request before it is cut off; 0 means 10 s.
	HeaderTimeout time.Duration
}

// Listen opens a TCP listener on "host:port"; port 0 takes a free one. A port
// in use is a Conflict.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fault.Errorf(fault.Conflict, "cannot listen on %q: the port is in use", addr)
	case errors.Is(err, syscall.EACCES):
		return nil, fault.Errorf(fault.Denied, "cannot listen on %q: %w", addr, err)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("cannot listen on %q: %w", addr, err)
	}
	return nil, fault.Errorf(fault.Invalid, "cannot listen on %q: %w", addr, err)
}

// Serve answers on l, which it owns and closes, and blocks until ctx ends or
// the listener breaks. When ctx ends it accepts no more, lets running requests
// go on for the grace, then ends their contexts with ErrShutdown, and at last
// cuts their connections. It returns nil after an end that ctx asked for.
//
// A client must send the header of a request, of at most 64 KiB, in the time
// for it. There is no limit on how long a request or its answer may take, because
// streams last for minutes: handlers bound their own reads and writes with
// http.ResponseController.
func Serve(ctx context.Context, l net.Listener, h http.Handler, o Options) error {
	logger := o.Logger
	if logger == nil {
		logger = slog.Default()
	}
	logger = logger.With("server", o.Name, "addr", l.Addr().String())
	grace := o.Grace
	if grace <= 0 {
		grace = defaultGrace
	}
	headerTimeout := o.HeaderTimeout
	if headerTimeout <= 0 {
		headerTimeout = defaultHeaderTimeout
	}

	requests, endRequests := context.WithCancelCause(context.WithoutCancel(ctx))
	defer endRequests(ErrShutdown)
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	broken := make(chan error, 1)
	go func() { broken <- s.Serve(l) }()
	logger.Info("serving")

	select {
	case err := <-broken:
		_ = s.Close()
		return fmt.Errorf("cannot serve on %q: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	stop(s, grace, endRequests, logger)
	if err := <-broken; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("cannot serve on %q: %w", l.Addr(), err)
	}
	logger.Info("stopped")
	return nil
}

// stop ends a server: first patiently, then firmly, then by force.
func stop(s *http.Server, grace time.Duration, endRequests context.CancelCauseFunc, logger *slog.Logger) {
	patient, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if s.Shutdown(patient) == nil {
		return
	}
	logger.Warn("requests outlast the grace period and are ended", "grace", grace)
	endRequests(ErrShutdown)
	firm, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	if s.Shutdown(firm) == nil {
		return
	}
	_ = s.Close()
}
