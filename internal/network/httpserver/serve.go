// Package httpserver has the common parts of Koldun's HTTP servers: timeouts, a
// bounded graceful shutdown, and the health endpoints.
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
	// lastWords is the time that handlers have for a final message to their
	// client after the grace period, when their context has ended.
	lastWords = time.Second

	defaultHeaderTimeout = 10 * time.Second
	idleTimeout          = 2 * time.Minute
	maxHeaderBytes       = 16 << 10 // 16 KiB
)

// ErrShutdown is the cause of request contexts that end with the server.
var ErrShutdown = errors.New("the server is shutting down")

// Options adjust Serve. The zero value is usable.
type Options struct {
	Name   string        // of the server, in logs: "api", "health"
	Grace  time.Duration // time for running requests after ctx has ended; 0 means 15 s
	Logger *slog.Logger  // nil means slog.Default()
	// Drain is the part of Grace in which requests are still accepted as long as they
	// keep coming, each answer with "Connection: close"; 0 means none.
	Drain time.Duration
	// HeaderTimeout is the time in which a client must send the header of a
	// request; 0 means 10 s.
	HeaderTimeout time.Duration
	// Hosts are the names that requests may have in the Host header, beside IP addresses.
	// None: localhost, and those of Services and pods. AnyHost allows all.
	Hosts []string
	// OwnGuard means that the handler refuses other hosts and pages of other sites itself,
	// because the answer depends on its configuration or has a form of its own.
	OwnGuard bool

	waiting int // most connections that wait for their client; 0 is names.WaitingConnections
}

// Listen opens a TCP listener on "host:port"; port 0 means any free port. If the
// port is in use, the error is a Conflict.
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

// Serve serves on l, which it owns and closes, and blocks until ctx ends or the
// listener fails. When ctx ends, it drains, accepts no more connections, waits for
// running requests for the rest of the grace period, ends their contexts with
// ErrShutdown, and finally closes their connections. It then returns nil.
//
// A client must send the header of a request, of at most 16 KiB and 128 lines, within
// HeaderTimeout. Requests for other hosts get 421, and requests of pages of other sites
// that could change something 403. Requests and answers have no time limit, because streams last
// for minutes: handlers limit their reads and writes with
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

	if !o.OwnGuard {
		h = guard(h, o.Hosts)
	}
	requests, endRequests := context.WithCancelCause(context.WithoutCancel(ctx))
	defer endRequests(ErrShutdown)
	leaving, all := &drain{quiet: min(quiet, o.Drain)}, newConns()
	if o.waiting > 0 {
		all.mostWaiting = o.waiting
	}
	s := &http.Server{
		Handler:           all.handler(leaving.handler(h)),
		ConnContext:       withConn,
		ConnState:         changed,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	broken := make(chan error, 1)
	go func() { broken <- s.Serve(all.listener(l)) }()
	logger.Info("serving")

	select {
	case err := <-broken:
		_ = s.Close()
		return fmt.Errorf("cannot serve on %q: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	leaving.run(patient, o.Drain)
	stop(patient, s, endRequests, logger.With("grace", grace))
	if err := <-broken; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("cannot serve on %q: %w", l.Addr(), err)
	}
	logger.Info("stopped")
	return nil
}

// stop shuts a server down gracefully, then by contexts, then by force.
// patient ends with the grace period.
func stop(patient context.Context, s *http.Server, endRequests context.CancelCauseFunc, logger *slog.Logger) {
	if s.Shutdown(patient) == nil {
		return
	}
	logger.Warn("requests exceed the grace period and are cancelled")
	endRequests(ErrShutdown)
	firm, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	if s.Shutdown(firm) == nil {
		return
	}
	_ = s.Close()
}
