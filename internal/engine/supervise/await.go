package supervise

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

const (
	askEvery   = 300 * time.Millisecond
	askTimeout = 2 * time.Second
	remindAt   = 30 * time.Second // interval of warnings while waiting
	maxAnswer  = 256              // bytes of an answer that are read
)

// await blocks until all supervisors at these HOST:PORT report in one round that
// their workers listen, or until ctx ends. It returns the sessions that these
// workers wait for, in the order of addrs. It connects only to supervisors,
// because a connection that closes without a request ends a worker.
func await(ctx context.Context, addrs []string, log *slog.Logger) ([]string, error) {
	if len(addrs) == 0 {
		return nil, ctx.Err()
	}
	client := &http.Client{Timeout: askTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for next := time.Now().Add(remindAt); ; {
		sessions, missing := poll(ctx, client, addrs)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(missing) == 0 {
			return sessions, nil
		}
		if now := time.Now(); now.After(next) {
			next = now.Add(remindAt)
			log.Warn("still waiting for workers to listen", "missing", missing)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

// poll returns the session of each worker, and those that do not listen, with the
// cause: "HOST:PORT: serving".
func poll(ctx context.Context, client *http.Client, addrs []string) (sessions, missing []string) {
	sessions, says := make([]string, len(addrs)), make([]string, len(addrs))
	var all sync.WaitGroup
	for i, a := range addrs {
		all.Go(func() {
			phase, session, err := ask(ctx, client, a)
			sessions[i] = session
			switch {
			case err != nil:
				says[i] = a + ": " + err.Error()
			case phase != Listening:
				says[i] = a + ": " + string(phase)
			}
		})
	}
	all.Wait()
	return sessions, slices.DeleteFunc(says, func(s string) bool { return s == "" })
}

// ask returns the phase of a supervisor, and its session.
func ask(ctx context.Context, client *http.Client, addr string) (Phase, string, error) {
	r, err := request(ctx, client, "http://"+addr+"/readyz")
	if err != nil {
		return "", "", err
	}
	phase, err := parsePhase(r.text)
	return phase, r.session, err
}

// A reply is the answer of a supervisor.
type reply struct {
	status  int
	session string // of the header
	text    string
}

// request sends GET to a supervisor. The error does not contain the URL.
func request(ctx context.Context, client *http.Client, address string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return reply{}, err
	}
	req.Host = "localhost" // which each supervisor serves, by whatever name it is reached
	res, err := client.Do(req)
	if err != nil {
		return reply{}, errors.Unwrap(err)
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	return reply{res.StatusCode, res.Header.Get(sessionHeader), string(text)}, err
}

// parsePhase parses the answer of /readyz, a state in one line.
func parsePhase(text string) (Phase, error) {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if p := Phase(word); slices.Contains(phases(), p) {
		return p, nil
	}
	return "", fault.Errorf(fault.Invalid, "answers what no supervisor does")
}
