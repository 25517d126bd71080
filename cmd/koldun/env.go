package main

import (
	"context"
	"log/slog"
	"os"
	"strings"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/objectstore"
)

// envListenHost is the address on which servers listen that were given none:
// koldun up keeps everything on loopback with it.
const envListenHost = "KOLDUN_LISTEN_HOST"

// listenAddress fills in the host of ":8080".
func listenAddress(addr string) string {
	if strings.HasPrefix(addr, ":") {
		return os.Getenv(envListenHost) + addr
	}
	return addr
}

// busConfig is the connection to NATS that the environment describes.
func busConfig(name string, log *slog.Logger) (bus.Config, error) {
	url := os.Getenv(names.EnvNATSURL)
	if url == "" {
		return bus.Config{}, fault.Errorf(fault.Invalid, "cannot connect to NATS: set %s to nats://HOST:PORT", names.EnvNATSURL)
	}
	return bus.Config{
		URL:       url,
		User:      os.Getenv(names.EnvNATSUser),
		Password:  os.Getenv(names.EnvNATSPassword),
		CredsFile: os.Getenv(names.EnvNATSCreds),
		Name:      "koldun " + name,
		Logger:    log,
	}, nil
}

// connectBus connects as the environment says, and waits for as long as it
// takes.
func connectBus(ctx context.Context, name string, log *slog.Logger) (*bus.Bus, error) {
	cfg, err := busConfig(name, log)
	if err != nil {
		return nil, err
	}
	return bus.Connect(ctx, cfg)
}

// openStore opens a store as the environment says.
func openStore(ctx context.Context, url string) (objectstore.Store, error) {
	return objectstore.Open(ctx, url, objectstore.S3ConfigFromEnv(os.Getenv))
}

// folder lets people name a folder without a slash in front.
func folder(s string) string {
	if strings.Contains(s, "://") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, ".") {
		return s
	}
	return "./" + s
}
