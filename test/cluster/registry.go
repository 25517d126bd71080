package cluster

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// ServePackages serves package files (as `crossplane xpkg build` writes them)
// under their published names, such as "ghcr.io/gorizond/koldun-function:v1.0.0".
// Until the cluster stops, Crossplane pulls images of those repositories only from
// here.
//
// A Function that is installed from its package gets its endpoint from
// [Cluster.ServeFunction] or [Cluster.ConnectFunction] with the Function's name.
func (c *Cluster) ServePackages(ctx context.Context, files map[string]string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot listen for packages: %w", err)
	}
	server := &http.Server{Handler: newRegistry(), ReadHeaderTimeout: 10 * time.Second}
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
	rewritten := map[string]bool{}
	for ref, file := range files {
		tag, err := name.NewTag(ref, name.StrictValidation)
		if err != nil {
			return fmt.Errorf("cannot serve package %q: it needs a host name, a repository and a tag: %w", ref, err)
		}
		if err := push(ctx, listener.Addr().String(), tag, file); err != nil {
			return fmt.Errorf("cannot serve package %q: %w", ref, err)
		}
		rewritten[strings.TrimSuffix(ref, ":"+tag.TagStr())] = true
	}
	for repository := range rewritten {
		if err := c.Apply(ctx, rewrite(repository, listener.Addr().String())); err != nil {
			return err
		}
	}
	return nil
}

func newRegistry() http.Handler { return registry.New(registry.Logger(log.New(io.Discard, "", 0))) }

// push pushes a package file into the registry at an address, under the repository and
// tag of its published name.
func push(ctx context.Context, address string, published name.Tag, file string) error {
	image, err := readImage(file)
	if err != nil {
		return err
	}
	tag, err := name.NewTag(address + "/" + published.RepositoryStr() + ":" + published.TagStr())
	if err != nil {
		return err
	}
	return remote.Write(tag, image, remote.WithContext(ctx))
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
