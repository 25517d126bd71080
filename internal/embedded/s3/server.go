// Package s3 runs an S3 gateway (versitygw over a folder) inside this process,
// on loopback.
//
// The gateway has two limits that show through: a process can run only one at
// a time, and the gateway changes the working directory of the process. Start
// puts the old one back when the gateway ends; until then every relative path
// of the process means something else, so make paths absolute before.
package s3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/debuglogger"
	"github.com/versity/versitygw/embedgw"
	"github.com/versity/versitygw/s3api"

	"github.com/gorizond/koldun/internal/fault"
)

// Region is the region that clients must use.
const Region = "us-east-1"

// Bounds of the gateway. Requests beyond them are refused with SlowDown.
const (
	maxConnections = 4096
	maxRequests    = 1024
	maxParts       = 10_000
	startTimeout   = 30 * time.Second
	portAttempts   = 5
	stopGrace      = time.Second // for requests at work
)

// A Config holds the address, folder and account of a gateway.
type Config struct {
	Dir       string // data folder, created if absent; used by one gateway at a time
	Listen    string // "host:port" on loopback, default "127.0.0.1:0"
	AccessKey string // of the only account, which may do everything
	SecretKey string
	// Versions lets buckets keep old versions of objects. The library tells
	// standard output where.
	Versions bool
}

// A Server is a running gateway. Its methods may be called from any goroutine.
type Server struct {
	addr   string
	cancel context.CancelFunc
	done   chan struct{}
	err    error // set before done is closed
}

// Start runs a gateway until ctx ends or Close is called. It blocks until
// clients can connect. Errors: Invalid (address, keys), Conflict (port in use,
// a gateway runs already), Denied or Quota (folder).
func Start(ctx context.Context, cfg Config) (*Server, error) {
	s, err := start(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot start the S3 gateway: %w", err)
	}
	return s, nil
}

// running is set while a gateway runs: its library has global state.
var running atomic.Bool

var errRunning = fault.As(fault.Conflict, errors.New("this process runs one already"))

func start(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Dir == "" {
		return nil, fault.Errorf(fault.Invalid, "no data folder given")
	}
	if cfg.AccessKey == "" || cfg.SecretKey == "" {
		return nil, fault.Errorf(fault.Invalid, "access key and secret key must both be set")
	}
	host, port, err := splitListen(cfg.Listen)
	if err != nil {
		return nil, err
	}
	layout, err := prepare(cfg)
	if err != nil {
		return nil, err
	}
	return startAnywhere(ctx, cfg, layout, host, port)
}

// startAnywhere starts the gateway at a port of its choice if port is 0. The
// library binds the port itself and does not tell which it got, so a free one
// is looked for; should somebody else take it in between, another is tried.
func startAnywhere(ctx context.Context, cfg Config, l layout, host, port string) (*Server, error) {
	for attempt := 1; ; attempt++ {
		addr, err := freePort(host, port)
		if err != nil {
			return nil, err
		}
		s, err := run(ctx, cfg, l, addr)
		again := fault.Is(err, fault.Conflict) && !errors.Is(err, errRunning)
		if !again || port != "0" || attempt == portAttempts {
			return s, err
		}
	}
}

func run(ctx context.Context, cfg Config, l layout, addr string) (*Server, error) {
	old, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !running.CompareAndSwap(false, true) {
		return nil, errRunning
	}
	be, err := l.backend()
	if err != nil {
		err = errors.Join(err, os.Chdir(old))
		running.Store(false)
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &Server{addr: addr, cancel: cancel, done: make(chan struct{})}
	ready := make(chan struct{})
	var once sync.Once
	go func() {
		defer close(s.done)
		s.err = embedgw.RunVersityGW(ctx, be, &embedgw.Config{
			RootUserAccess:    cfg.AccessKey,
			RootUserSecret:    cfg.SecretKey,
			IAMService:        auth.NewIAMServiceSingle(auth.Account{Access: cfg.AccessKey, Secret: cfg.SecretKey, Role: auth.RoleAdmin}),
			Region:            Region,
			Ports:             []string{addr},
			MaxConnections:    maxConnections,
			MaxRequests:       maxRequests,
			MultipartMaxParts: maxParts,
			LogLevel:          debuglogger.LevelSilent,
			Quiet:             true,
			KeepAlive:         true,
			S3Options:         []s3api.Option{s3api.WithOnListen(func() { once.Do(func() { close(ready) }) })},
		})
		if err := os.Chdir(old); err != nil && s.err == nil {
			s.err = err
		}
		cancel()
		running.Store(false)
	}()
	timeout := time.NewTimer(startTimeout)
	defer timeout.Stop()
	select {
	case <-ready:
		go s.cut(ctx)
		return s, nil
	case <-timeout.C:
		err = fault.Errorf(fault.Transient, "it does not listen after %s", startTimeout)
	case <-s.done:
		err = s.err
		if err == nil {
			err = context.Cause(ctx)
		} else if strings.Contains(err.Error(), "address already in use") {
			err = fault.As(fault.Conflict, err)
		}
	}
	cancel()
	<-s.done
	return nil, err
}

// Endpoint returns the address for clients, "http://host:port". Buckets are
// addressed by path.
func (s *Server) Endpoint() string { return "http://" + s.addr }

// Close stops the gateway and waits for it. It may be called more than once.
func (s *Server) Close() error {
	s.cancel()
	return s.Wait()
}

// Wait blocks until the gateway has stopped and tells why, nil if it was told
// to.
func (s *Server) Wait() error {
	<-s.done
	return s.err
}

// Done returns a channel that is closed when the gateway has stopped.
func (s *Server) Done() <-chan struct{} { return s.done }

// cut lets requests at work end when the gateway is told to stop, and then
// whatever else holds it up.
func (s *Server) cut(ctx context.Context) {
	<-ctx.Done()
	ticker := time.NewTicker(stopGrace)
	defer ticker.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-ticker.C:
			cutConns(s.addr)
		}
	}
}

func splitListen(listen string) (host, port string, err error) {
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	host, port, err = net.SplitHostPort(listen)
	if err != nil {
		return "", "", fault.Errorf(fault.Invalid, "cannot listen on %q: %w", listen, err)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if !net.ParseIP(host).IsLoopback() {
		return "", "", fault.Errorf(fault.Invalid, "cannot listen on %q: only loopback addresses are allowed", listen)
	}
	return host, port, nil
}

// freePort is an address that nobody listens on.
func freePort(host, port string) (string, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return "", fault.Errorf(fault.Conflict, "cannot listen on %q: %w", net.JoinHostPort(host, port), err)
	}
	return l.Addr().String(), l.Close()
}
