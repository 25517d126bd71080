package supervise

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/engine"
)

// sessionHeader names the session in answers of /readyz.
const sessionHeader = "Koldun-Session"

const (
	// lostAfter is how long a supervisor may be out of reach before its worker
	// counts as lost. A supervisor is process 1 of its container, so the worker
	// ends with it.
	lostAfter = 5 * time.Second
	// probeAfter, probeEvery and probes find a lost host or network in 15 s,
	// without a packet while all is well and something is said.
	probeAfter = 5 * time.Second
	probeEvery = 5 * time.Second
	probes     = 2
)

// sessions names the session of a process with its peers: from its start, or the
// end of the session before, to its end or that of the process. No two have the
// same name, even after a restart of the supervisor.
type sessions struct {
	of   string // random
	n    int
	over chan struct{} // closed when the session is over
}

func newSessions() sessions { return sessions{of: rand.Text(), over: make(chan struct{})} }

func (s *sessions) name() string { return s.of + "." + strconv.Itoa(s.n) }

func (s *sessions) next() {
	s.n++
	close(s.over)
	s.over = make(chan struct{})
}

// handleSession handles GET /session?is=NAME, which answers with the name of the
// current session once it is another one than NAME. So a root, or a sidecar,
// learns of the end of a session when it ends, and not when a request fails.
func (s *supervisor) handleSession(w http.ResponseWriter, r *http.Request) {
	is := r.URL.Query().Get("is")
	_, session, over := s.out.session(view{})
	if session == is {
		select {
		case <-over:
		case <-s.ending:
		case <-r.Context().Done():
			return
		}
		if _, session, _ = s.out.session(view{}); session == is {
			answer(w, http.StatusServiceUnavailable, "the supervisor ends")
			return
		}
	}
	answer(w, http.StatusOK, session)
}

// followRing reports why the session of a root cannot go on: its own, or that of
// one of its workers, is over. A root of distributed-llama would notice with the
// next request, and then wait for three seconds before it connects again, to
// workers that may not listen yet. stop ends it and returns when it has ended.
func (s *supervisor) followRing(ctx context.Context, sessions []string) (broken <-chan string, stop func()) {
	if len(sessions) == 0 || s.role != engine.RoleRoot {
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	why := make(chan string, 1)
	say := func(reason string) {
		select {
		case why <- reason:
		default: // another reason came first
		}
	}
	_, _, over := s.out.session(view{})
	var all sync.WaitGroup
	all.Go(func() {
		select {
		case <-over:
			say("a connection to a worker has ended")
		case <-ctx.Done():
		}
	})
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: (&net.Dialer{Timeout: askTimeout, KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: probeAfter, Interval: probeEvery, Count: probes,
		}}).DialContext,
	}}
	for i, addr := range s.WaitFor {
		all.Go(func() {
			if reason := follow(ctx, client, addr, sessions[i], lostAfter); reason != "" {
				say("worker " + addr + ": " + reason)
			}
		})
	}
	return why, func() { cancel(); all.Wait() }
}

// follow blocks until a worker's session is another one, or its supervisor out of
// reach for as long as patience, and says which. It returns "" when ctx ends, or if
// the supervisor is of a version that names no sessions.
func follow(ctx context.Context, client *http.Client, addr, session string, patience time.Duration) string {
	if session == "" {
		return ""
	}
	for failing := (time.Time{}); ; {
		begun := time.Now()
		status, now, err := otherSession(ctx, client, addr, session)
		switch {
		case ctx.Err() != nil:
			return ""
		case err == nil && status == http.StatusOK && now != session:
			return "its session has ended"
		case err == nil && status == http.StatusNotFound:
			return ""
		case err == nil:
			failing = time.Time{}
		case failing.IsZero(), time.Since(begun) > 2*askTimeout: // it was reached until now
			failing = time.Now()
		case time.Since(failing) >= patience:
			return "its supervisor is out of reach"
		}
		select {
		case <-ctx.Done():
			return ""
		case <-time.After(askEvery):
		}
	}
}

// otherSession asks a supervisor for a session other than the named one.
func otherSession(ctx context.Context, client *http.Client, addr, session string) (status int, now string, err error) {
	r, err := request(ctx, client, "http://"+addr+"/session?is="+url.QueryEscape(session))
	return r.status, strings.TrimSpace(r.text), err
}
