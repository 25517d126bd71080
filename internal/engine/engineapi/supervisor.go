package engineapi

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/fault"
)

// restartTimeout bounds the answer to Restart: the supervisor answers before it
// restarts the engine.
const restartTimeout = 5 * time.Second

// maxState is the longest answer of a supervisor in bytes.
const maxState = 256

// A Supervisor is the client of the process that runs the engine (koldun
// supervise).
type Supervisor struct {
	URL string // of its health port, on this machine: "http://127.0.0.1:9991"
	// KeyFile is where the supervisor writes the key for Restart; empty: it asks for none.
	KeyFile string
}

// NewSupervisor returns the client for a URL and a file with the key. Errors: Invalid.
func NewSupervisor(rawURL, keyFile string) (Supervisor, error) {
	u, err := parseURL("supervisor", rawURL)
	if err != nil {
		return Supervisor{}, err
	}
	return Supervisor{URL: "http://" + u.Host, KeyFile: keyFile}, nil
}

// Restart ends the engine's process and starts it again. It returns once that
// has begun. A Conflict means that there is no process to end, because one is
// being started already; other errors are Transient.
func (s Supervisor) Restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, restartTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/restart", nil)
	if err != nil {
		return fault.Errorf(fault.Invalid, "cannot ask supervisor %q to restart the engine: %w", s.URL, err)
	}
	if s.KeyFile != "" {
		key, err := os.ReadFile(s.KeyFile)
		if err != nil {
			return fault.Errorf(fault.Transient, "cannot ask the supervisor to restart the engine: %w", err)
		}
		req.Header.Set(engine.RestartKeyHeader, strings.TrimSpace(string(key)))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fault.Errorf(fault.Transient, "cannot ask the supervisor to restart the engine: %w", err)
	}
	_ = resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusAccepted:
		return nil
	case http.StatusConflict:
		return fault.Errorf(fault.Conflict, "cannot restart the engine: it does not run")
	}
	return fault.Errorf(fault.Transient, "cannot restart the engine: the supervisor answers %s", resp.Status)
}

// State returns the state of the engine in a few words, such as "serving" or
// "loading 3 of 32". Errors: Transient.
func (s Supervisor) State(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, restartTimeout)
	defer cancel()
	_, text, err := s.get(ctx, "/readyz")
	return text, err
}

// Session returns the name of the engine's session, and blocks while it is the
// one named after: until the engine's process, or its session with the workers,
// has ended. Errors: Unsupported if the supervisor names no sessions, otherwise
// Transient.
func (s Supervisor) Session(ctx context.Context, after string) (string, error) {
	status, text, err := s.get(ctx, "/session?is="+url.QueryEscape(after))
	switch {
	case err != nil:
		return "", err
	case status == http.StatusNotFound:
		return "", fault.Errorf(fault.Unsupported, "cannot follow the engine: the supervisor names no sessions")
	case status != http.StatusOK:
		return "", fault.Errorf(fault.Transient, "cannot follow the engine: the supervisor answers %q", text)
	}
	return text, nil
}

func (s Supervisor) get(ctx context.Context, path string) (status int, text string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		return 0, "", fault.Errorf(fault.Invalid, "cannot ask supervisor %q: %w", s.URL, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", fault.Errorf(fault.Transient, "cannot ask the supervisor: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxState))
	if err != nil {
		return 0, "", fault.Errorf(fault.Transient, "cannot read the supervisor's answer: %w", err)
	}
	return resp.StatusCode, strings.TrimSpace(string(raw)), nil
}
