package node_test

import (
	"context"
	"fmt"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/gorizond/koldun/test/cluster/platform"
	"github.com/gorizond/koldun/test/node/kubernetes"
)

// version is the version of the images that make e2e builds.
const version = "v0.0.0"

// pushImages pushes the images of Koldun as make package builds them, and those of others,
// which are made of programs from source: distributed-llama, Crossplane, NATS, an S3 server,
// and a hub with the models of this repository.
func (w *world) pushImages(ctx context.Context) error {
	layouts := filepath.Join(repository, "_output", "packages", "oci")
	for _, name := range []string{"koldun", "koldun-function", "koldun-provider", "koldun-configuration", "koldun-configuration-claims"} {
		index, err := layout.ImageIndexFromPath(filepath.Join(layouts, name))
		if err != nil {
			return fmt.Errorf("cannot read image %q: %w; run: make package", name, err)
		}
		if err := w.pushLayout(ctx, "gorizond/"+name+":"+version, index); err != nil {
			return err
		}
	}
	bin := filepath.Join(repository, "bin")
	hub, err := platform.Build(ctx, repository, "test/node/hub")
	if err != nil {
		return err
	}
	for ref, i := range map[string]struct {
		files   map[string]string
		command []string
	}{
		"gorizond/distributed-llama:v0.16.4": {files: map[string]string{"/": filepath.Join(repository, "_output", "distributed-llama")}},
		"crossplane/crossplane:v2.4.0": {
			files:   map[string]string{"/crossplane": filepath.Join(bin, "crossplane"), "/crds": filepath.Join(bin, "crossplane.d", "crds"), "/webhookconfigurations": filepath.Join(bin, "crossplane.d", "webhookconfigurations")},
			command: []string{"/crossplane"},
		},
		"library/nats:2.15.2":      {files: map[string]string{"/nats-server": filepath.Join(bin, "nats-server")}, command: []string{"/nats-server"}},
		"versity/versitygw:v1.8.0": {files: map[string]string{"/usr/local/bin/versitygw": filepath.Join(bin, "versitygw")}, command: []string{"/usr/local/bin/versitygw"}},
		"hub:v1":                   {files: map[string]string{"/hub": hub, "/models": filepath.Join(repository, "examples", "models")}, command: []string{"/hub"}},
	} {
		image, err := kubernetes.Image(i.files)
		if err != nil {
			return err
		}
		if image, err = kubernetes.WithEntrypoint(image, i.command...); err != nil {
			return err
		}
		if err := kubernetes.Push(ctx, w.registry, ref, image); err != nil {
			return err
		}
	}
	return nil
}

// pushLayout pushes the only image or list of images of an image layout.
func (w *world) pushLayout(ctx context.Context, ref string, index v1.ImageIndex) error {
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	var one remote.Taggable
	only := manifest.Manifests[0]
	if only.MediaType.IsIndex() {
		one, err = index.ImageIndex(only.Digest)
	} else {
		one, err = index.Image(only.Digest)
	}
	if err != nil {
		return err
	}
	return kubernetes.Push(ctx, w.registry, ref, one)
}
