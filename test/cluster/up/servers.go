package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/artifact/hub/hubserver"
	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/local/embedded/nats"
	"github.com/gorizond/koldun/internal/local/embedded/s3"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/internal/network/httpserver"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// servers are the servers outside the cluster. Their credentials are valid while they
// run.
type servers struct {
	services platform.Services
	closers  []func()
}

func (s *servers) close() {
	for _, f := range slices.Backward(s.closers) {
		f()
	}
}

// serve starts the servers, which store their data in dir and run until close.
func serve(ctx context.Context, dir, models string) (*servers, error) {
	ctx = context.WithoutCancel(ctx)
	s, ok := &servers{}, false
	defer func() {
		if !ok {
			s.close()
		}
	}()
	hub, err := s.hub(ctx, models)
	if err != nil {
		return nil, err
	}
	url, keys, err := s.nats(ctx, filepath.Join(dir, "nats"))
	if err != nil {
		return nil, err
	}
	access, secret := rand.Text(), rand.Text()
	store, err := s3.Start(ctx, s3.Config{Dir: filepath.Join(dir, "s3"), AccessKey: access, SecretKey: secret})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() { _ = store.Close() })
	s.services = platform.Services{
		NATS: bus.Config{URL: url}, Operator: keys,
		S3:  s3store.Config{Endpoint: store.Endpoint(), Region: s3.Region, AccessKey: access, SecretKey: secret},
		Hub: hub,
	}
	ok = true
	return s, nil
}

// nats starts a server in operator mode, on which each namespace has an account. It returns
// its URL, and the keys of its operator.
func (s *servers) nats(ctx context.Context, dir string) (string, map[string][]byte, error) {
	authority, err := natsauth.NewAuthority("control-plane")
	if err != nil {
		return "", nil, err
	}
	keys, err := authority.Secret(natsauth.Keyring(rand.Text() + rand.Text()))
	if err != nil {
		return "", nil, err
	}
	n, err := nats.Start(ctx, nats.Config{Dir: dir, Authority: &authority})
	if err != nil {
		return "", nil, err
	}
	s.closers = append(s.closers, n.Close)
	return n.ClientURL(), keys, nil
}

// hub serves a folder of models, and returns its URL.
func (s *servers) hub(ctx context.Context, models string) (string, error) {
	handler, err := hubserver.New(hubserver.Config{Dir: models})
	if err != nil {
		return "", err
	}
	l, err := httpserver.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		_ = handler.Close()
		return "", err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = handler.Close() }()
		if err := httpserver.Serve(ctx, l, handler, httpserver.Options{Name: "hub", Grace: time.Second, Logger: slog.Default()}); err != nil {
			slog.Error("cannot serve hub", "error", err)
		}
	}()
	s.closers = append(s.closers, func() {
		cancel()
		<-done
	})
	return "http://" + l.Addr().String(), nil
}
