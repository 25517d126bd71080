package cluster

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// ServePackages serves package files (as `crossplane xpkg build` writes them)
// under their published names, such as "ghcr.io/gorizond/koldun-function:v1.0.0".
// Until the cluster stops, Crossplane pulls images of those repositories only from
// here.
//
// A Function that is installed from its package gets its endpoint from
// [Cluster.ServeFunction] or [Cluster.ConnectFunction] with the Function's name.
func (c *Cluster) ServePackages(ctx context.Context, files map[string]string) error {
	r := registry{tags: map[string]map[string]*image{}}
	var rewrites []string
	for ref, file := range files {
		repository, tag, ok := cutLast(ref, ":")
		host, path, slash := strings.Cut(repository, "/")
		if !ok || !slash || !strings.Contains(host, ".") {
			return fmt.Errorf("cannot serve package %q: it needs a host name, a repository and a tag", ref)
		}
		img, err := readImage(file)
		if err != nil {
			return fmt.Errorf("cannot serve package %q: %w", ref, err)
		}
		if r.tags[path] == nil {
			r.tags[path] = map[string]*image{}
			rewrites = append(rewrites, repository)
		}
		r.tags[path][tag] = img
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot listen for packages: %w", err)
	}
	server := &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // ends with Close
	}()
	c.mu.Lock()
	c.closers = append(c.closers, func() {
		_ = server.Close()
		<-served
	})
	c.mu.Unlock()
	for _, repository := range rewrites {
		if err := c.Apply(ctx, rewrite(repository, listener.Addr().String())); err != nil {
			return err
		}
	}
	return nil
}

// rewrite returns an ImageConfig that makes Crossplane pull the repository from
// address.
func rewrite(repository, address string) string {
	_, path, _ := strings.Cut(repository, "/")
	name := strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(repository)
	return fmt.Sprintf(`
apiVersion: pkg.crossplane.io/v1beta1
kind: ImageConfig
metadata:
  name: %s
spec:
  matchImages:
    - type: Prefix
      prefix: %s
  rewriteImage:
    prefix: %s/%s
`, name, repository, address, path)
}

// A registry implements the part of the OCI distribution API that pulling needs:
// https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md
type registry struct {
	tags map[string]map[string]*image // by repository and tag
}

func (r registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path := strings.TrimPrefix(req.URL.Path, "/v2/")
	if path == "" {
		return
	}
	what, last, _ := cutLast(path, "/")
	repository, what, _ := cutLast(what, "/")
	tags, ok := r.tags[repository]
	if !ok {
		http.NotFound(w, req)
		return
	}
	switch what {
	case "tags":
		writeJSON(w, map[string]any{"name": repository, "tags": sortedKeys(tags)})
		return
	case "manifests":
		for tag, img := range tags {
			if last == tag || last == img.digest {
				write(w, img.mediaType, img.digest, img.manifest)
				return
			}
		}
	case "blobs":
		for _, img := range tags {
			if blob, ok := img.blobs[last]; ok {
				write(w, "application/octet-stream", last, blob)
				return
			}
		}
	}
	http.NotFound(w, req)
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func sortedKeys(m map[string]*image) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
