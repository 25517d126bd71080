package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/modelref"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/objectstore"
	"github.com/gorizond/koldun/internal/objectstore/s3"
	"github.com/gorizond/koldun/internal/objectstore/storeurl"
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
	cfg := bus.ConfigFromEnv(os.Getenv)
	if cfg.URL == "" {
		return cfg, fault.Errorf(fault.Invalid, "cannot connect to NATS: set %s to nats://HOST:PORT", names.EnvNATSURL)
	}
	cfg.Name, cfg.Logger = "koldun "+name, log
	return cfg, nil
}

// connectBus connects as the environment says, and waits for as long as it
// takes; for patience only if NATS refuses the credentials.
func connectBus(ctx context.Context, name string, patience time.Duration, log *slog.Logger) (*bus.Bus, error) {
	cfg, err := busConfig(name, log)
	if err != nil {
		return nil, err
	}
	cfg.Patience = patience
	b, err := bus.Connect(ctx, cfg)
	return b, advise(err)
}

// advise adds to a refusal where the credentials come from.
func advise(err error) error {
	if fault.Is(err, fault.Denied) {
		return fmt.Errorf("%w; the credentials are those of %s and %s, %s, %s or %s", err,
			names.EnvNATSUser, names.EnvNATSPassword, names.EnvNATSToken, names.EnvNATSNKey, names.EnvNATSCreds)
	}
	return err
}

// openStore opens a store as the environment says.
func openStore(ctx context.Context, url string) (objectstore.Store, error) {
	return storeurl.Open(ctx, url, s3.ConfigFromEnv(os.Getenv))
}

// folder lets people name a folder without a slash in front.
func folder(s string) string {
	if strings.Contains(s, "://") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, ".") {
		return s
	}
	return "./" + s
}

// parseSource reads what names the source of some work. The error is Invalid.
func parseSource(s string) (modelref.Ref, error) {
	if s == "" { // an unset variable of a script more likely than this folder
		return modelref.Ref{}, fault.Errorf(fault.Invalid, "cannot read a model: the source is empty; the current folder is .")
	}
	ref, err := modelref.Parse(folder(s))
	return ref, fault.As(fault.Invalid, err)
}

// openSource opens a store that must be there already, as far as can be told
// without asking a server. Errors: NotFound, Invalid.
func openSource(ctx context.Context, ref modelref.Ref) (objectstore.Store, error) {
	store, err := openStore(ctx, ref.String())
	if err != nil || ref.Scheme != modelref.File {
		return store, err
	}
	info, err := os.Stat(ref.Path)
	switch {
	case os.IsNotExist(err):
		return nil, fault.Errorf(fault.NotFound, "cannot read folder %q: there is none", ref.Path)
	case err == nil && !info.IsDir():
		return nil, fault.Errorf(fault.Invalid, "cannot read %q: it is a file, want the folder of a model", ref.Path)
	}
	return store, nil // other errors come with what is read
}
