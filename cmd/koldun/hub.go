package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/gorizond/koldun/internal/external/hubrevision"
	"github.com/gorizond/koldun/internal/httpserver"
	"github.com/gorizond/koldun/internal/hub"
	"github.com/gorizond/koldun/internal/hub/hubserver"
)

// A localHub serves the models of a folder as a hub, on loopback.
type localHub struct {
	Endpoint string
	stop     context.CancelFunc
	done     chan struct{}
}

func serveHub(ctx context.Context, dir string, log *slog.Logger) (*localHub, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	server, err := hubserver.New(hubserver.Config{Dir: dir, Log: log})
	if err != nil {
		return nil, err
	}
	l, err := httpserver.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		_ = server.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	h := &localHub{Endpoint: "http://" + l.Addr().String(), stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(h.done)
		defer func() { _ = server.Close() }()
		if err := httpserver.Serve(ctx, l, server, httpserver.Options{Name: "hub", Grace: time.Second, Logger: log}); err != nil {
			log.Error("cannot serve hub", "error", err)
		}
	}()
	return h, nil
}

// Close stops the server and waits for its end.
func (h *localHub) Close() {
	h.stop()
	<-h.done
}

// hubs gives clients of hubs; endpoint is the one that stands for
// huggingface.co, empty for the real one.
func hubs(endpoint string, log *slog.Logger) hubrevision.Hubs {
	return func(of, token string) (hubrevision.Hub, error) {
		if of == "" {
			of = endpoint
		}
		// The caller tries again by itself: two attempts tell an outage soon.
		return hub.New(hub.Config{Endpoint: of, Token: token, Attempts: 2, MaxWait: 10 * time.Second, Log: log})
	}
}
