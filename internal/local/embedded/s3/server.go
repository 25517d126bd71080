// Package s3 runs an S3 gateway (versitygw over a folder): with Start on loopback in a child
// process, and with Serve in this one, as the object store of a cluster.
//
// The gateway has global state, changes the working directory, and waits up to
// ten seconds for idle connections when it stops. In a process of its own none of
// that matters. The child is this program, started again: a program that calls
// Start calls [RunChild] first of all in main.
package s3

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/backoff"
	"github.com/gorizond/koldun/internal/fault"
)

// Region is the region of the gateway.
const Region = "us-east-1"

const (
	startTimeout = 30 * time.Second
	stopGrace    = time.Second     // for running requests
	killAfter    = 5 * time.Second // when the child does not end
)

// A Config is where the gateway listens and keeps its data.
type Config struct {
	Dir       string // data folder, created if absent; belongs to one gateway at a time
	Listen    string // "host:port", for Start on loopback and by default "127.0.0.1:0"
	AccessKey string // of the only account, which has all rights
	SecretKey string
	Versions  bool         // buckets can keep old versions of objects
	Sessions  bool         // temporary credentials that are signed with SecretKey are valid
	TLS       TLS          // of Serve
	Log       *slog.Logger `json:"-"` // of restarts; nil: none
}

// HealthPath answers requests without credentials while the gateway serves.
const HealthPath = "/_/health"

func (c Config) check() error {
	if err := c.complete(); err != nil {
		return err
	}
	_, _, err := splitListen(c.Listen)
	return err
}

func (c Config) complete() error {
	if c.Dir == "" {
		return fault.Errorf(fault.Invalid, "no data folder given")
	}
	if c.AccessKey == "" || c.SecretKey == "" {
		return fault.Errorf(fault.Invalid, "access key and secret key must both be set")
	}
	return nil
}

// A Server is a running gateway. It is safe for concurrent use.
type Server struct {
	addr string
	stop context.CancelCauseFunc
	done chan struct{}
	err  error // set before done is closed
}

// errKill stops the gateway without waiting for running requests.
var errKill = errors.New("killed")

// Start runs a gateway until ctx ends or Close is called. It blocks until clients
// can connect. If the child ends before, Start's goroutine starts it again at the
// same address. Errors: Invalid (address, keys), Conflict (port in use), Denied or
// Quota (folder).
func Start(ctx context.Context, cfg Config) (*Server, error) {
	return start(ctx, request{Config: cfg})
}

func start(ctx context.Context, r request) (*Server, error) {
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	err := r.check()
	if err == nil {
		err = ctx.Err()
	}
	var c *child
	if err == nil {
		c, err = startChild(ctx, r)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot start the S3 gateway: %w", err)
	}
	r.Listen = c.addr
	ctx, stop := context.WithCancelCause(ctx)
	s := &Server{addr: c.addr, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.err = keep(ctx, c, r)
	}()
	return s, nil
}

// keep starts the child again whenever it ends, until ctx does.
func keep(ctx context.Context, c *child, r request) error {
	pause := backoff.Policy{First: 100 * time.Millisecond, Most: 2 * time.Second}
	for {
		select {
		case <-ctx.Done():
			return c.end(errors.Is(context.Cause(ctx), errKill))
		case <-c.ended:
		}
		for n := 1; ; n++ {
			r.Log.Warn("restarting the S3 gateway", "error", c.err)
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(pause.After(n)):
			}
			next, err := startChild(ctx, r)
			if err == nil {
				c = next
				break
			}
			c.err = err
		}
	}
}

// Endpoint returns the URL for clients: "http://host:port". They address buckets
// by path.
func (s *Server) Endpoint() string { return "http://" + s.addr }

// Close stops the gateway and waits for its end. It may be called more than once.
func (s *Server) Close() error {
	s.stop(nil)
	return s.Wait()
}

// Kill is Close without time for running requests.
func (s *Server) Kill() {
	s.stop(errKill)
	<-s.done
}

// Wait blocks until the gateway has stopped. It returns an error if the gateway
// did not stop in order.
func (s *Server) Wait() error {
	<-s.done
	return s.err
}

func splitListen(listen string) (host, port string, err error) {
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	host, port, err = net.SplitHostPort(listen)
	if err != nil {
		return "", "", fault.Errorf(fault.Invalid, "cannot listen on %q: %w", listen, err)
	}
	if strings.EqualFold(host, "localhost") {
		host = "127.0.0.1"
	}
	if !net.ParseIP(host).IsLoopback() {
		return "", "", fault.Errorf(fault.Invalid, "cannot listen on %q: only loopback addresses are allowed", listen)
	}
	return host, port, nil
}
