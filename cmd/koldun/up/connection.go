package up

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// The data folder of a running koldun up has the connection to its NATS: lines of
// NAME=VALUE, and the credentials of a user of the role operator, which only its owner can
// read.
const (
	connectionFile  = "nats.env"
	credentialsFile = "nats.creds"
)

// probeTimeout bounds the check whether a koldun up runs.
const probeTimeout = 2 * time.Second

// writeConnection writes a connectionFile atomically.
func writeConnection(path string, env map[string][]byte) error {
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(env)) {
		fmt.Fprintf(&text, "%s=%s\n", name, env[name])
	}
	return writeSecret(path, text.Bytes())
}

// writeSecret writes a file atomically that only its owner can read.
func writeSecret(path string, data []byte) error {
	// The file of a killed process may have another mode.
	unfinished := path + ".new"
	if err := os.Remove(unfinished); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("cannot write connection: %w", err)
	}
	if err := os.WriteFile(unfinished, data, 0o600); err != nil { //nolint:gosec // the folder is the user's choice
		return fmt.Errorf("cannot write connection: %w", err)
	}
	if err := os.Rename(unfinished, path); err != nil {
		return fmt.Errorf("cannot write connection: %w", err)
	}
	return nil
}

// Connection returns the connection to the koldun up that runs in a folder.
// Errors: NotFound if none does.
func Connection(ctx context.Context, dir string) (bus.Config, error) {
	raw, err := os.ReadFile(filepath.Join(dir, connectionFile))
	if os.IsNotExist(err) {
		return bus.Config{}, fault.Errorf(fault.NotFound, "no koldun up runs in %q", dir)
	}
	if err != nil {
		return bus.Config{}, fmt.Errorf("cannot read connection: %w", err)
	}
	env := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		env[name] = value
	}
	cfg := bus.ConfigFromEnv(func(name string) string { return env[name] })
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" {
		return bus.Config{}, fault.Errorf(fault.Corrupt, "cannot read connection from %q: it has no URL", filepath.Join(dir, connectionFile))
	}
	// A killed koldun up leaves its file.
	c, err := (&net.Dialer{Timeout: probeTimeout}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return bus.Config{}, fault.Errorf(fault.NotFound, "no koldun up runs in %q any more: %w", dir, err)
	}
	return cfg, c.Close()
}
