package s3

import (
	"context"
	"net"
	"strings"
	"sync"

	"github.com/versity/versitygw/debuglogger"
	"github.com/versity/versitygw/embedgw"
	"github.com/versity/versitygw/s3api"

	"github.com/gorizond/koldun/internal/fault"
)

// Bounds of the gateway. It refuses requests beyond them with SlowDown.
const (
	maxConnections = 4096
	maxRequests    = 1024
	maxParts       = 10_000
	portAttempts   = 5
)

// A gateway is the library's server in this process, which can run only one.
type gateway struct {
	addr string
	done chan struct{}
	err  error // set before done is closed
}

// listen starts the gateway. The library binds the port itself and does not return
// it, so listen looks for a free one; if another process takes that in between, it
// tries the next.
func listen(ctx context.Context, r request) (*gateway, error) {
	host, port, err := splitListen(r.Listen)
	if err != nil {
		return nil, err
	}
	l, err := prepare(r)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		addr, err := freePort(ctx, host, port)
		if err != nil {
			return nil, err
		}
		g, err := run(ctx, r.Config, l, addr, nil)
		if !fault.Is(err, fault.Conflict) || port != "0" || attempt == portAttempts {
			return g, err
		}
	}
}

// run starts the gateway at an address. It reads its certificate again with each message of
// reload.
func run(ctx context.Context, cfg Config, l layout, addr string, reload <-chan struct{}) (*gateway, error) {
	be, err := l.backend()
	if err != nil {
		return nil, err
	}
	g := &gateway{addr: addr, done: make(chan struct{})}
	ready := make(chan struct{})
	var once sync.Once
	go func() {
		defer close(g.done)
		g.err = embedgw.RunVersityGW(ctx, be, &embedgw.Config{
			RootUserAccess:    cfg.AccessKey,
			RootUserSecret:    cfg.SecretKey,
			IAMService:        accounts(cfg),
			Region:            Region,
			Ports:             []string{addr},
			MaxConnections:    maxConnections,
			MaxRequests:       maxRequests,
			MultipartMaxParts: maxParts,
			LogLevel:          debuglogger.LevelSilent,
			Quiet:             true,
			KeepAlive:         true,
			HealthPath:        HealthPath,
			CertFile:          cfg.TLS.CertFile,
			KeyFile:           cfg.TLS.KeyFile,
			SigHup:            reload,
			S3Options:         []s3api.Option{s3api.WithOnListen(func() { once.Do(func() { close(ready) }) })},
		})
	}()
	select {
	case <-ready:
		return g, nil
	case <-g.done:
	}
	switch {
	case g.err == nil:
		return nil, context.Cause(ctx)
	case strings.Contains(g.err.Error(), "address already in use"):
		return nil, fault.As(fault.Conflict, g.err)
	}
	return nil, g.err
}

// freePort returns an address that no process listens on.
func freePort(ctx context.Context, host, port string) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return "", fault.Errorf(fault.Conflict, "cannot listen on %q: %w", net.JoinHostPort(host, port), err)
	}
	return l.Addr().String(), l.Close()
}
