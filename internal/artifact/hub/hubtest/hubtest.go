// Package hubtest runs a hub over HTTP for tests, with the faults of real
// hubs, networks and proxies.
package hubtest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/hub/hubserver"
)

// A Hub is a running hub with one repository, and a second server on another port,
// the storage to which it redirects requests for large files.
type Hub struct {
	URL  string // of the hub
	CDN  string // of the storage
	Repo string

	t       testing.TB
	options Options

	mu       sync.Mutex
	versions []version // the newest last
	rules    []*Rule
	requests []Request
}

// A version is one commit; older ones stay readable, as on a real hub.
type version struct {
	commit string
	server *hubserver.Server
}

// A Request is one request as it arrived.
type Request struct {
	CDN    bool // at the storage
	Path   string
	Query  string
	Range  string
	Token  string // the Authorization header
	Status int    // of the answer; 0 before it begins
}

// Options of New.
type Options struct {
	Repo     string // default "org/model"
	Token    string // required by the hub; clients must not send it to the storage
	PageSize int    // of listings
}

// New runs a hub with the given files until the test ends.
func New(t testing.TB, o Options, files map[string][]byte) *Hub {
	t.Helper()
	if o.Repo == "" {
		o.Repo = "org/model"
	}
	h := start(t, o)
	h.Publish(files)
	return h
}

// NewDir runs a hub whose repository is an existing folder: "org/" and the
// folder's name.
func NewDir(t testing.TB, o Options, dir string) *Hub {
	t.Helper()
	o.Repo = "org/" + filepath.Base(dir)
	h := start(t, o)
	h.publish(filepath.Dir(dir))
	return h
}

func start(t testing.TB, o Options) *Hub {
	t.Helper()
	h := &Hub{t: t, Repo: o.Repo, options: o}
	cdn := httptest.NewServer(h.handler(true))
	t.Cleanup(cdn.Close)
	srv := httptest.NewServer(h.handler(false))
	t.Cleanup(srv.Close)
	h.URL, h.CDN = srv.URL, cdn.URL
	return h
}

// Write writes a file and the folders above it.
func Write(t testing.TB, path string, body []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Publish makes these files the newest commit of the branch, and returns it.
func (h *Hub) Publish(files map[string][]byte) string {
	h.t.Helper()
	parent := h.t.TempDir()
	for name, body := range files {
		Write(h.t, filepath.Join(parent, filepath.Base(h.Repo), filepath.FromSlash(name)), body)
	}
	return h.publish(parent)
}

func (h *Hub) publish(parent string) string {
	h.t.Helper()
	srv, err := hubserver.New(hubserver.Config{Dir: parent, Token: h.options.Token, CDN: h.CDN, PageSize: h.options.PageSize})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = srv.Close() })
	commit, err := srv.Commit(h.Repo)
	if err != nil {
		h.t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.versions = append(h.versions, version{commit: commit, server: srv})
	return commit
}

// Commit returns the newest commit of the branch.
func (h *Hub) Commit() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.versions[len(h.versions)-1].commit
}

// Requests returns all requests so far.
func (h *Hub) Requests() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Request{}, h.requests...)
}

// Forget drops the requests so far.
func (h *Hub) Forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = nil
}

// handler serves one of the two addresses.
func (h *Hub) handler(cdn bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := h.note(Request{
			CDN: cdn, Path: r.URL.Path, Query: r.URL.RawQuery,
			Range: r.Header.Get("Range"), Token: r.Header.Get("Authorization"),
		})
		w = &statusWriter{ResponseWriter: w, status: func(code int) { h.noteStatus(i, code) }}
		if rule := h.take(cdn, r); rule != nil {
			rule.do(w, r, h.server(r))
			return
		}
		h.server(r).ServeHTTP(w, r)
	})
}

func (h *Hub) note(r Request) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = append(h.requests, r)
	return len(h.requests) - 1
}

func (h *Hub) noteStatus(i, code int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i < len(h.requests) {
		h.requests[i].Status = code
	}
}

// server returns the newest version, or the one whose commit or file the request
// names.
func (h *Hub) server(r *http.Request) http.Handler {
	h.mu.Lock()
	defer h.mu.Unlock()
	newest := h.versions[len(h.versions)-1].server
	for _, v := range h.versions {
		if strings.Contains(r.URL.Path, v.commit) || (v.server != newest && v.server.Has(r.URL.Path)) {
			return v.server
		}
	}
	return newest
}

// A statusWriter records the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status func(int)
}

func (w *statusWriter) WriteHeader(code int) {
	w.status(code)
	w.ResponseWriter.WriteHeader(code)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
