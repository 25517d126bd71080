package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/artifact/hub/hubserver"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/network/httpserver"
)

// HubFlags are the flags of commands that read a hub.
type HubFlags struct {
	TokenEndpoint string `placeholder:"https://HOST" help:"Hub that may receive HF_TOKEN, besides that of HF_ENDPOINT (default https://huggingface.co). Other hubs never receive it."`
}

// open returns a client of the hub that a source names. HF_TOKEN belongs to the
// hub of HF_ENDPOINT and that of --token-endpoint: a source must not choose the
// receiver of the token. In a Job the provider says which hosts may be reached. Errors:
// Invalid.
func (f HubFlags) open(ref modelref.Ref, log *slog.Logger) (*hub.Client, error) {
	own := os.Getenv(names.EnvHFEndpoint)
	if own == "" {
		own = hub.DefaultEndpoint
	}
	cfg := hub.Config{Endpoint: ref.Endpoint, Token: os.Getenv(names.EnvHFToken), TokenFor: []string{own}, Reach: hub.ParseReach(os.Getenv(names.EnvHubReach)), Log: log}
	if cfg.Endpoint == "" {
		cfg.Endpoint = own
	}
	if f.TokenEndpoint != "" {
		cfg.TokenFor = append(cfg.TokenFor, f.TokenEndpoint)
	}
	return hub.New(cfg)
}

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
