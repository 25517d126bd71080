// Package hubserver serves a folder with the protocol of a Hugging Face hub.
//
// Repository ORG/REPO is the folder <dir>/ORG/REPO, or <dir>/REPO if there is
// no such folder; REPO alone is <dir>/REPO. Each has one branch, "main", whose
// commit is a digest of the content. Requests for large files are redirected, as on
// the real hub.
package hubserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// A Config is what a Server serves.
type Config struct {
	Dir string // folder with the repositories
	// Token, if not empty, is required of every request to the hub itself, but
	// not of those to the storage that it redirects to.
	Token string
	// CDN is the address (http://host:port) to which requests for large files
	// are redirected; empty: this server's own.
	CDN string
	// PageSize is the number of entries in one page of a listing, default 1000.
	PageSize int
	Log      *slog.Logger // of errors; nil: none
}

// cdnPath is the path of large files.
const cdnPath = "/cdn/"

// A Server is a hub. It is an http.Handler and safe for concurrent use.
type Server struct {
	cfg  Config
	root *os.Root
	idx  *index
}

// New returns a server. Errors: NotFound, Denied.
func New(cfg Config) (*Server, error) {
	root, err := os.OpenRoot(cfg.Dir)
	if err != nil {
		kind := fault.Denied
		if errors.Is(err, fs.ErrNotExist) {
			kind = fault.NotFound
		}
		return nil, fault.Errorf(kind, "cannot serve folder %q as a hub: %w", cfg.Dir, err)
	}
	if cfg.PageSize <= 0 {
		cfg.PageSize = 1000
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg, root: root, idx: newIndex(root)}, nil
}

// Close closes the folder.
func (s *Server) Close() error { return s.root.Close() }

// Commit returns the commit of a repository's branch "main". It reads the files
// that changed since the last call.
func (s *Server) Commit(repo string) (string, error) {
	r, err := s.idx.repo(repo)
	if err != nil {
		return "", err
	}
	return r.commit, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "", "only GET and HEAD are served")
		return
	}
	path := r.URL.EscapedPath()
	if rest, ok := strings.CutPrefix(path, cdnPath); ok {
		s.serveCDN(w, r, rest)
		return
	}
	if s.cfg.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.cfg.Token {
		refuse(w, http.StatusUnauthorized, "RepoNotFound", "Repository not found, or it is private")
		return
	}
	if rest, ok := strings.CutPrefix(path, "/api/models/"); ok {
		s.serveAPI(w, r, rest)
		return
	}
	repo, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/resolve/")
	rev, file, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 {
		refuse(w, http.StatusNotFound, "", "no such page")
		return
	}
	s.serveFile(w, r, repo, rev, file)
}

// serveAPI answers REPO, REPO/revision/REV and REPO/tree/REV[/PATH].
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request, path string) {
	if repo, rest, ok := strings.Cut(path, "/tree/"); ok {
		rev, prefix, _ := strings.Cut(rest, "/")
		s.serveTree(w, r, repo, rev, prefix)
		return
	}
	repo, rev, ok := strings.Cut(path, "/revision/")
	if !ok {
		rev = branch
	}
	v := s.version(w, repo, rev)
	if v == nil {
		return
	}
	type sibling struct {
		Name string `json:"rfilename"`
	}
	siblings := make([]sibling, 0, len(v.files))
	for _, f := range v.files {
		siblings = append(siblings, sibling{f.path})
	}
	w.Header().Set("X-Repo-Commit", v.commit)
	s.writeJSON(w, map[string]any{
		"id": v.name, "modelId": v.name, "sha": v.commit,
		"private": s.cfg.Token != "", "gated": false, "disabled": false,
		"siblings": siblings,
	})
}

// version returns a repository at a revision, or answers NotFound.
func (s *Server) version(w http.ResponseWriter, repo, rev string) *repository {
	repo, err1 := url.PathUnescape(repo)
	rev, err2 := url.PathUnescape(rev)
	v, err := s.idx.repo(repo)
	switch {
	case err1 != nil || err2 != nil || errors.Is(err, fs.ErrNotExist):
		refuse(w, http.StatusNotFound, "RepoNotFound", "Repository not found")
	case err != nil:
		s.cfg.Log.Error("cannot read repository", "repo", repo, "error", err)
		refuse(w, http.StatusInternalServerError, "", "cannot read the repository")
	case rev != branch && rev != v.commit:
		refuse(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id: "+rev)
	default:
		return v
	}
	return nil
}

type lfsEntry struct {
	OID         string `json:"oid"`
	Size        int64  `json:"size"`
	PointerSize int    `json:"pointerSize"`
}

type treeEntry struct {
	Type string    `json:"type"`
	OID  string    `json:"oid"`
	Size int64     `json:"size"`
	Path string    `json:"path"`
	LFS  *lfsEntry `json:"lfs,omitempty"`
}

func (s *Server) serveTree(w http.ResponseWriter, r *http.Request, repo, rev, prefix string) {
	v := s.version(w, repo, rev)
	if v == nil {
		return
	}
	prefix, err := url.PathUnescape(prefix)
	if err != nil {
		refuse(w, http.StatusNotFound, "EntryNotFound", "no such folder")
		return
	}
	query := r.URL.Query()
	entries := v.tree(prefix, query.Get("recursive") == "true" || query.Get("recursive") == "1")
	if prefix != "" && len(entries) == 0 {
		refuse(w, http.StatusNotFound, "EntryNotFound", "no such folder")
		return
	}
	from, _ := strconv.Atoi(query.Get("cursor"))
	from = min(max(from, 0), len(entries))
	to := min(from+s.cfg.PageSize, len(entries))
	if to < len(entries) {
		query.Set("cursor", strconv.Itoa(to))
		next := url.URL{Scheme: scheme(r), Host: r.Host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: query.Encode()}
		w.Header().Set("Link", fmt.Sprintf(`<%s>; rel="next"`, next.String()))
	}
	s.writeJSON(w, entries[from:to])
}

func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

func (s *Server) writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		s.cfg.Log.Debug("cannot write an answer", "error", err)
	}
}

// refuse answers an error in the form of the hub: a code and a message in headers,
// and the message as JSON.
func refuse(w http.ResponseWriter, status int, code, message string) {
	if code != "" {
		w.Header().Set("X-Error-Code", code)
	}
	w.Header().Set("X-Error-Message", message)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": message})
}
