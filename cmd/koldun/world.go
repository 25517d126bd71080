package main

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

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/fault"
)

// worldFile is in the data folder of koldun up while that runs, and says how to
// reach its NATS: lines of NAME=VALUE, with a password, so for its owner only.
const worldFile = "nats.env"

// worldTimeout bounds how long it may take to see whether a world runs.
const worldTimeout = 2 * time.Second

// writeWorld writes a worldFile, whole or not at all.
func writeWorld(path string, env map[string][]byte) error {
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(env)) {
		fmt.Fprintf(&text, "%s=%s\n", name, env[name])
	}
	// What a killed process has left may have other rights.
	unfinished := path + ".new"
	if err := os.Remove(unfinished); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("cannot write connection: %w", err)
	}
	if err := os.WriteFile(unfinished, text.Bytes(), 0o600); err != nil {
		return fmt.Errorf("cannot write connection: %w", err)
	}
	if err := os.Rename(unfinished, path); err != nil {
		return fmt.Errorf("cannot write connection: %w", err)
	}
	return nil
}

// readWorld is the connection to the koldun up that runs in a folder. Errors:
// NotFound if none does.
func readWorld(ctx context.Context, dir string) (bus.Config, error) {
	raw, err := os.ReadFile(filepath.Join(dir, worldFile))
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
		return bus.Config{}, fault.Errorf(fault.Corrupt, "cannot read connection from %q: there is no URL", filepath.Join(dir, worldFile))
	}
	// One that was killed leaves its file.
	c, err := (&net.Dialer{Timeout: worldTimeout}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return bus.Config{}, fault.Errorf(fault.NotFound, "no koldun up runs in %q any more: %w", dir, err)
	}
	return cfg, c.Close()
}
