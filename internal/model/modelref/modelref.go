// Package modelref parses the names of model sources.
package modelref

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// A Scheme is the kind of a source.
type Scheme string

// The schemes.
const (
	Hub  Scheme = "hf"   // a repository on a Hugging Face hub
	S3   Scheme = "s3"   // a bucket and key prefix
	File Scheme = "file" // a folder
)

// A Ref names the source of a model.
type Ref struct {
	Scheme Scheme
	// Endpoint of a hub that is not huggingface.co, as https://HOST; empty for
	// the hub that the environment names, huggingface.co by default.
	Endpoint string
	Repo     string // Hub: "org/repo", or "repo" for the hub's oldest ones
	Revision string // Hub: branch, tag or commit; empty means "main"
	Bucket   string // S3
	Path     string // S3: key prefix without slashes around; File: folder
}

var (
	repoPart = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$`)
	commit   = regexp.MustCompile(`^[0-9a-f]{40}$`)
	bucket   = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
)

// Parse reads https://huggingface.co/ORG/REPO[/tree/REVISION],
// hf://ORG/REPO[@REVISION], s3://BUCKET[/PREFIX], file:///FOLDER or a path
// that begins with "/", "./" or "../".
func Parse(s string) (Ref, error) {
	ref, err := parse(s)
	if err != nil {
		return Ref{}, fmt.Errorf("cannot read model source %q: %w", redact(s), err)
	}
	return ref, nil
}

// redact removes the part before an @ of a URL, which may be a password.
func redact(s string) string {
	if u, err := url.Parse(s); err == nil && u.User != nil {
		u.User = url.User("...")
		return u.String()
	}
	return s
}

func parse(s string) (Ref, error) {
	switch {
	case s == "":
		return Ref{}, errors.New("it is empty: write https://huggingface.co/ORG/REPO, hf://ORG/REPO@REVISION, s3://BUCKET/PREFIX or file:///FOLDER")
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, "./"), strings.HasPrefix(s, "../"):
		return Ref{Scheme: File, Path: s}, nil
	case strings.HasPrefix(s, "hf://"):
		repo, rev, pinned := strings.Cut(strings.TrimPrefix(s, "hf://"), "@")
		if pinned && rev == "" {
			return Ref{}, errors.New("nothing follows the @: name a branch, tag or commit")
		}
		return hub(repo, rev)
	}
	u, err := url.Parse(s)
	if err != nil {
		return Ref{}, err
	}
	if u.User != nil {
		return Ref{}, errors.New("it holds credentials: put them into a Secret")
	}
	if u.RawQuery != "" || u.Fragment != "" || u.ForceQuery || strings.Contains(s, "#") {
		return Ref{}, errors.New("nothing may follow ? or #")
	}
	switch u.Scheme {
	case "https", "http":
		path := strings.Trim(u.Path, "/")
		repo, rev, _ := strings.Cut(path, "/tree/")
		ref, err := hub(repo, rev)
		if u.Host != "huggingface.co" && u.Host != "www.huggingface.co" {
			ref.Endpoint = u.Scheme + "://" + u.Host
		}
		return ref, err
	case "s3":
		if !bucket.MatchString(u.Host) {
			return Ref{}, fmt.Errorf("%q is not a bucket name", u.Host)
		}
		return Ref{Scheme: S3, Bucket: u.Host, Path: strings.Trim(u.Path, "/")}, nil
	case "file":
		if u.Host != "" || u.Path == "" {
			return Ref{}, errors.New("a folder is written file:///FOLDER, with three slashes")
		}
		return Ref{Scheme: File, Path: u.Path}, nil
	}
	return Ref{}, errors.New("only https://, hf://, s3:// and file:// sources are known")
}

func hub(repo, rev string) (Ref, error) {
	parts := strings.Split(repo, "/")
	if len(parts) > 2 || parts[0] == "" {
		return Ref{}, fmt.Errorf("%q is not a repository: write ORG/REPO", repo)
	}
	for _, p := range parts {
		if !repoPart.MatchString(p) || strings.Contains(p, "..") {
			return Ref{}, fmt.Errorf("%q is not a repository: write ORG/REPO", repo)
		}
	}
	if strings.ContainsAny(rev, " \t\r\n?#%\\") || strings.Contains(rev, "..") {
		return Ref{}, fmt.Errorf("%q is not a revision", rev)
	}
	return Ref{Scheme: Hub, Repo: repo, Revision: rev}, nil
}

// Pinned reports whether the revision is a commit, which never changes.
func (r Ref) Pinned() bool { return commit.MatchString(r.Revision) }

// String returns the shortest form that Parse parses to the same Ref.
func (r Ref) String() string {
	switch r.Scheme {
	case Hub:
		if r.Endpoint != "" && r.Revision != "" {
			return r.Endpoint + "/" + r.Repo + "/tree/" + r.Revision
		}
		if r.Endpoint != "" {
			return r.Endpoint + "/" + r.Repo
		}
		if r.Revision == "" {
			return "hf://" + r.Repo
		}
		return "hf://" + r.Repo + "@" + r.Revision
	case S3:
		return strings.TrimSuffix((&url.URL{Scheme: "s3", Host: r.Bucket, Path: "/" + r.Path}).String(), "/")
	}
	if strings.HasPrefix(r.Path, "/") {
		return (&url.URL{Scheme: "file", Path: r.Path}).String()
	}
	return r.Path
}
