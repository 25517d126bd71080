package kubernetes

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	reg "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Registry is the host and port of the registry, from which Crossplane and containerd pull
// over HTTP: both know that private addresses have no certificates.
const Registry = Address + ":5000"

// A registry is a container registry in this process.
type registry struct {
	server *http.Server
	served chan struct{} // closed when it has ended
}

func serveRegistry(ctx context.Context) (*registry, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", Registry)
	if err != nil {
		return nil, fmt.Errorf("cannot listen for images: %w", err)
	}
	r := &registry{
		server: &http.Server{Handler: reg.New(reg.Logger(log.New(io.Discard, "", 0))), ReadHeaderTimeout: 10 * time.Second},
		served: make(chan struct{}),
	}
	go func() {
		defer close(r.served)
		_ = r.server.Serve(listener) // ends with close
	}()
	return r, nil
}

func (r *registry) close() {
	if r == nil {
		return
	}
	_ = r.server.Close()
	<-r.served
}

// Push pushes an image or a list of them into a registry under a name such as
// "gorizond/koldun:v1".
func Push(ctx context.Context, registry, ref string, image remote.Taggable) error {
	tag, err := name.NewTag(registry + "/" + ref)
	if err != nil {
		return err
	}
	switch i := image.(type) {
	case v1.Image:
		err = remote.Write(tag, i, remote.WithContext(ctx))
	case v1.ImageIndex:
		err = remote.WriteIndex(tag, i, remote.WithContext(ctx))
	default:
		err = fmt.Errorf("it is a %T", image)
	}
	if err != nil {
		return fmt.Errorf("cannot push image %q: %w", ref, err)
	}
	return nil
}
