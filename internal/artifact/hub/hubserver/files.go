package hubserver

import (
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// serveFile serves a file of git, and redirects to a file of LFS.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request, repo, rev, name string) {
	v := s.version(w, repo, rev)
	if v == nil {
		return
	}
	w.Header().Set("X-Repo-Commit", v.commit)
	name, err := url.PathUnescape(name)
	f := v.find(name)
	if err != nil || f == nil {
		refuse(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
		return
	}
	w.Header().Set("Accept-Ranges", "bytes")
	if !f.lfs() {
		s.send(w, r, v, f, f.oid)
		return
	}
	w.Header().Set("X-Linked-Size", strconv.FormatInt(f.size, 10))
	w.Header().Set("X-Linked-Etag", `"`+f.sha256+`"`)
	to := url.URL{Path: cdnPath + f.sha256 + "/" + v.name + "/" + f.path}
	w.Header().Set("Location", s.cfg.CDN+to.EscapedPath())
	w.WriteHeader(http.StatusFound)
}

// serveCDN serves SHA256/REPO/FILE, where REPO may contain a slash.
func (s *Server) serveCDN(w http.ResponseWriter, r *http.Request, escaped string) {
	full, err := url.PathUnescape(escaped)
	if err != nil {
		refuse(w, http.StatusNotFound, "", "no such object")
		return
	}
	v, f := s.idx.object(full)
	if f == nil {
		refuse(w, http.StatusForbidden, "", "the address has expired")
		return
	}
	s.send(w, r, v, f, f.sha256)
}

// send writes the bytes of a file, or the requested range.
func (s *Server) send(w http.ResponseWriter, r *http.Request, v *repository, f *file, etag string) {
	in, err := s.root.Open(path.Join(v.folder, f.path))
	if err != nil {
		status := http.StatusInternalServerError
		if errors.Is(err, fs.ErrNotExist) {
			status = http.StatusNotFound
		}
		s.cfg.Log.Error("cannot open file", "repo", v.name, "file", f.path, "error", err)
		refuse(w, status, "", "cannot read the file")
		return
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil || stampOf(info) != f.stamp {
		refuse(w, http.StatusServiceUnavailable, "", "the file has changed meanwhile")
		return
	}
	kind := mime.TypeByExtension(path.Ext(f.path))
	if kind == "" || f.lfs() {
		kind = "application/octet-stream"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("ETag", `"`+etag+`"`)
	http.ServeContent(w, r, "", info.ModTime(), in)
}

// Has reports whether the path of a request is the address of a large file.
func (s *Server) Has(path string) bool {
	rest, ok := strings.CutPrefix(path, cdnPath)
	if !ok {
		return false
	}
	_, f := s.idx.object(rest)
	return f != nil
}
