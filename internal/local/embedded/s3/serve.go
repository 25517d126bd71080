package s3

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// TLS is the certificate of a gateway, and its key, as PEM files. Without them it speaks
// plain HTTP, as gateways on loopback do.
type TLS struct {
	CertFile, KeyFile string
	// Reread is how often a gateway of Serve looks whether the files have changed, because
	// their Secret has.
	Reread time.Duration
}

// Serve runs a gateway in this process until ctx ends. It may listen on all addresses. A
// process can run one gateway. Errors: Invalid (keys, certificate), Denied or Quota (folder).
func Serve(ctx context.Context, cfg Config) error {
	if err := serveUntil(ctx, cfg); err != nil {
		return fmt.Errorf("cannot serve the object store: %w", err)
	}
	return nil
}

func serveUntil(ctx context.Context, cfg Config) error {
	if err := cfg.complete(); err != nil {
		return err
	}
	l, err := prepare(request{Config: cfg})
	if err != nil {
		return err
	}
	if cfg.TLS.Reread <= 0 {
		return fault.Errorf(fault.Invalid, "cannot look every %s whether the certificate has changed", cfg.TLS.Reread)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	before, err := cfg.TLS.read()
	if err != nil {
		return err
	}
	changed := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wg.Go(func() { cfg.TLS.watch(ctx, before, changed) })
	g, err := run(ctx, cfg, l, cfg.Listen, changed)
	if err != nil {
		return err
	}
	cfg.Log.Info("serving", "address", g.addr)
	<-g.done
	return g.err
}

// read returns the content of both files. Errors: Invalid.
func (t TLS) read() ([]byte, error) {
	cert, err := os.ReadFile(t.CertFile)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot read the certificate: %w", err)
	}
	key, err := os.ReadFile(t.KeyFile)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot read the key of the certificate: %w", err)
	}
	return append(cert, key...), nil
}

// watch sends to changed when the files differ from before, until ctx ends.
func (t TLS) watch(ctx context.Context, before []byte, changed chan<- struct{}) {
	tick := time.NewTicker(t.Reread)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, err := t.read()
		if err != nil || bytes.Equal(now, before) {
			continue // it keeps the certificate that it has
		}
		select {
		case changed <- struct{}{}:
			before = now
		case <-ctx.Done():
			return
		}
	}
}
