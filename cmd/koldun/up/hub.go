package up

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/gorizond/koldun/internal/artifact/hub/hubserver"
	"github.com/gorizond/koldun/internal/network/httpserver"
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
		if err := httpserver.Serve(ctx, l, server, httpserver.Options{Name: "hub", Hosts: []string{"localhost"}, Grace: time.Second, Logger: log}); err != nil {
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
