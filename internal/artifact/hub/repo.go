package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"sort"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// A File is one file of a repository at one commit.
type File struct {
	Path   string // with slashes
	Size   int64  // bytes
	SHA256 string // of the content, lower-case hex; empty unless the file is kept in LFS
	OID    string // the id that git gives the content (a SHA-1); of files in LFS, of their pointer
}

// LFS reports whether the file is kept in LFS, so that its SHA-256 is known.
func (f File) LFS() bool { return f.SHA256 != "" }

// Bounds of the answers of a hub, so that ten listings at a time fit into the memory of
// the provider. A page of huggingface.co has 1,000 entries of about 350 bytes; large
// models have some hundred files.
const (
	maxInfo  = 4 << 20 // bytes of one JSON answer
	maxTree  = 8 << 20 // bytes of all pages of a listing
	maxPages = 1_000
	maxFiles = 20_000
)

var (
	hexSHA1   = regexp.MustCompile(`^[0-9a-f]{40}$`)
	hexSHA256 = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Resolve returns the commit of a branch, tag or commit; an empty revision means
// "main".
func (c *Client) Resolve(ctx context.Context, repo, revision string) (string, error) {
	if revision == "" {
		revision = "main"
	}
	at := c.url("api", "models", repo, "revision", url.PathEscape(revision))
	commit, err := c.resolve(ctx, at)
	if err != nil {
		return "", fmt.Errorf("cannot resolve revision %q of repository %q: %w", revision, repo, err)
	}
	return commit, nil
}

func (c *Client) resolve(ctx context.Context, at *url.URL) (string, error) {
	resp, err := c.do(ctx, at, nil)
	if err != nil {
		return "", err
	}
	body, err := readAll(resp)
	if err != nil {
		return "", err
	}
	var info struct {
		SHA string `json:"sha"`
	}
	if err := json.Unmarshal(body, &info); err != nil {
		return "", fault.Errorf(fault.Corrupt, "the answer is not a model's description: %w", err)
	}
	if !hexSHA1.MatchString(info.SHA) {
		return "", fault.Errorf(fault.Corrupt, "the answer names %q as commit", info.SHA)
	}
	return info.SHA, nil
}

// Tree lists all files of a repository at a commit, sorted by path.
func (c *Client) Tree(ctx context.Context, repo, commit string) ([]File, error) {
	files, err := c.tree(ctx, repo, commit)
	if err != nil {
		return nil, fmt.Errorf("cannot list repository %q at %s: %w", repo, commit, err)
	}
	return files, nil
}

func (c *Client) tree(ctx context.Context, repo, commit string) ([]File, error) {
	at := c.url("api", "models", repo, "tree", url.PathEscape(commit))
	at.RawQuery = "recursive=true&expand=false"
	var files []File
	left := maxTree
	for range maxPages {
		resp, err := c.do(ctx, at, nil)
		if err != nil {
			return nil, err
		}
		body, err := readAll(resp)
		if err != nil {
			return nil, err
		}
		if left -= len(body); left < 0 {
			return nil, fault.Errorf(fault.Unsupported, "its listing has more than %d bytes", maxTree)
		}
		page, err := parseTree(body)
		if err != nil {
			return nil, err
		}
		files = append(files, page...)
		if len(files) > maxFiles {
			return nil, fault.Errorf(fault.Unsupported, "it has more than %d files", maxFiles)
		}
		next := nextPage(resp.Header.Values("Link"))
		if next == "" {
			return checkFiles(files)
		}
		to, err := at.Parse(next)
		if err != nil || to.Scheme != at.Scheme || to.Host != at.Host {
			return nil, fault.Errorf(fault.Corrupt, "the link to the next page is %q", next)
		}
		at = to
	}
	return nil, fault.Errorf(fault.Corrupt, "the listing has more than %d pages", maxPages)
}

// parseTree reads one page of a listing.
func parseTree(body []byte) ([]File, error) {
	var entries []struct {
		Type string `json:"type"`
		Path string `json:"path"`
		Size int64  `json:"size"`
		OID  string `json:"oid"`
		LFS  *struct {
			OID  string `json:"oid"`
			Size int64  `json:"size"`
		} `json:"lfs"`
	}
	if err := json.Unmarshal(body, &entries); err != nil {
		return nil, fault.Errorf(fault.Corrupt, "the answer is not a listing: %w", err)
	}
	var files []File
	for _, e := range entries {
		if e.Type != "file" {
			continue
		}
		f := File{Path: e.Path, Size: e.Size, OID: e.OID}
		if e.LFS != nil {
			f.SHA256, f.Size = strings.TrimPrefix(e.LFS.OID, "sha256:"), e.LFS.Size
		}
		switch {
		case f.Path == "." || !fs.ValidPath(f.Path) || strings.ContainsAny(f.Path, "\\\x00"):
			return nil, fault.Errorf(fault.Corrupt, "the listing names a file %q", f.Path)
		case f.Size < 0:
			return nil, fault.Errorf(fault.Corrupt, "file %q is listed with %d bytes", f.Path, f.Size)
		case f.SHA256 != "" && !hexSHA256.MatchString(f.SHA256):
			return nil, fault.Errorf(fault.Corrupt, "file %q is listed with SHA-256 %q", f.Path, f.SHA256)
		case f.SHA256 == "" && !hexSHA1.MatchString(f.OID):
			return nil, fault.Errorf(fault.Corrupt, "file %q is listed with git id %q", f.Path, f.OID)
		}
		files = append(files, f)
	}
	return files, nil
}

// checkFiles sorts the files. Corrupt if one is listed twice.
func checkFiles(files []File) ([]File, error) {
	sort.Slice(files, func(i, j int) bool { return files[i].Path < files[j].Path })
	for i := 1; i < len(files); i++ {
		if files[i].Path == files[i-1].Path {
			return nil, fault.Errorf(fault.Corrupt, "file %q is listed twice", files[i].Path)
		}
	}
	return files, nil
}

// nextPage returns the target of the link with rel="next" (RFC 8288), or "".
func nextPage(links []string) string {
	for _, header := range links {
		for link := range strings.SplitSeq(header, ",") {
			target, params, ok := strings.Cut(strings.TrimSpace(link), ">")
			if !ok || !strings.HasPrefix(target, "<") {
				continue
			}
			for p := range strings.SplitSeq(params, ";") {
				key, value, _ := strings.Cut(strings.TrimSpace(p), "=")
				if strings.EqualFold(key, "rel") && strings.Trim(value, `"`) == "next" {
					return target[1:]
				}
			}
		}
	}
	return ""
}

// url joins escaped path elements to the endpoint. repo may hold a slash.
func (c *Client) url(elements ...string) *url.URL {
	u, err := url.Parse(c.base.String() + "/" + strings.Join(elements, "/"))
	if err != nil { // impossible: the elements are escaped
		return c.base
	}
	return u
}

// readAll reads a JSON answer.
func readAll(resp *http.Response) ([]byte, error) {
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxInfo+1))
	if err != nil {
		return nil, netError(resp.Request.Context(), resp.Request.URL, err)
	}
	if len(body) > maxInfo {
		return nil, fault.Errorf(fault.Unsupported, "the answer has more than %d bytes", maxInfo)
	}
	return body, nil
}
