package engineapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// restartTimeout bounds the answer to Restart: the supervisor answers before it
// restarts the engine.
const restartTimeout = 5 * time.Second

// A Supervisor is the client of the process that runs the engine (koldun
// supervise).
type Supervisor struct {
	URL string // of its health port, on this machine: "http://127.0.0.1:9991"
}

// NewSupervisor returns the client for a URL. Errors: Invalid.
func NewSupervisor(rawURL string) (Supervisor, error) {
	u, err := parseURL("supervisor", rawURL)
	if err != nil {
		return Supervisor{}, err
	}
	return Supervisor{URL: "http://" + u.Host}, nil
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
