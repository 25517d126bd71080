package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/gorizond/koldun/cmd/koldun/up"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/artifact/objectstore/storeurl"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// listenAddress adds the default host to ":8080".
func listenAddress(addr string) string {
	if strings.HasPrefix(addr, ":") {
		return os.Getenv(up.EnvListenHost) + addr
	}
	return addr
}

// busConfig returns the connection to NATS from the environment.
func busConfig(name string, log *slog.Logger) (bus.Config, error) {
	cfg := bus.ConfigFromEnv(os.Getenv)
	if cfg.URL == "" {
		return cfg, fault.Errorf(fault.Invalid, "cannot connect to NATS: set %s to nats://HOST:PORT", names.EnvNATSURL)
	}
	cfg.Name, cfg.Logger = "koldun "+name, log
	cfg.WithoutJetStream = name == "llm" || name == "job" // natsauth.Runner and Job ask it nothing
	return cfg, nil
}

// connectBus connects with the settings of the environment. It blocks until NATS
// answers; if NATS refuses the credentials, at most for patience.
func connectBus(ctx context.Context, name string, patience time.Duration, log *slog.Logger) (*bus.Bus, error) {
	cfg, err := busConfig(name, log)
	if err != nil {
		return nil, err
	}
	cfg.Patience = patience
	b, err := bus.Connect(ctx, cfg)
	return b, advise(err)
}

// advise adds the source of the credentials to a refusal.
func advise(err error) error {
	if fault.Is(err, fault.Denied) {
		return fmt.Errorf("%w; the credentials are those of %s and %s, %s, %s or %s", err,
			names.EnvNATSUser, names.EnvNATSPassword, names.EnvNATSToken, names.EnvNATSNKey, names.EnvNATSCreds)
	}
	return err
}

// openStore opens a store with the settings of the environment.
func openStore(ctx context.Context, url string) (objectstore.Store, error) {
	return storeurl.Open(ctx, url, s3.ConfigFromEnv(os.Getenv))
}

// folder allows the name of a folder without a leading slash or dot.
func folder(s string) string {
	if strings.Contains(s, "://") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, ".") {
		return s
	}
	return "./" + s
}

// parseSource parses the source of a model. Errors: Invalid.
func parseSource(s string) (modelref.Ref, error) {
	if s == "" { // more likely an unset variable of a script than the current folder
		return modelref.Ref{}, fault.Errorf(fault.Invalid, "cannot read a model: the source is empty; the current folder is .")
	}
	ref, err := modelref.Parse(folder(s))
	return ref, fault.As(fault.Invalid, err)
}

// openSource opens an existing store. It checks that a folder exists, and sends no
// request for others. Errors: NotFound, Invalid.
func openSource(ctx context.Context, ref modelref.Ref) (objectstore.Store, error) {
	store, err := openStore(ctx, ref.String())
	if err != nil || ref.Scheme != modelref.File {
		return store, err
	}
	info, err := os.Stat(ref.Path)
	switch {
	case os.IsNotExist(err):
		return nil, fault.Errorf(fault.NotFound, "cannot read folder %q: it does not exist", ref.Path)
	case err == nil && !info.IsDir():
		return nil, fault.Errorf(fault.Invalid, "cannot read %q: it is a file; name the folder of a model", ref.Path)
	}
	return store, nil // reads return other errors
}
