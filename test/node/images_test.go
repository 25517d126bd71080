package node_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/gorizond/koldun/internal/engine/distributedllama"
	"github.com/gorizond/koldun/test/cluster/platform"
	"github.com/gorizond/koldun/test/node/kubernetes"
)

// Releases of Koldun that make e2e builds by make release-dry.
const (
	version = "v0.1.0"
	newer   = "v0.1.1" // of the same code
)

// released returns the path of a part of a release: of an image layout in oci, or of a file
// that users download in files.
func released(version string, path ...string) string {
	return filepath.Join(append([]string{repository, "_output", "release", version}, path...)...)
}

// push pushes the images of Koldun as a release has them, and those of others,
// which are made of programs from source: distributed-llama, Crossplane, NATS, a hub with
// the models of this repository, a probe of networks, a CSI driver, and an ingress
// controller.
func (im *images) push(ctx context.Context) error {
	if err := im.pushKoldun(ctx, version); err != nil {
		return err
	}
	images, err := others(ctx)
	if err != nil {
		return err
	}
	for ref, i := range images {
		image, err := kubernetes.Image(i.files)
		if err != nil {
			return err
		}
		if image, err = kubernetes.WithEntrypoint(image, i.command...); err != nil {
			return err
		}
		if err := kubernetes.Push(ctx, im.registry, ref, image); err != nil {
			return err
		}
	}
	return nil
}

// pushKoldun pushes the images of a release, as the release workflow does.
func (im *images) pushKoldun(ctx context.Context, version string) error {
	images, err := os.ReadFile(released(version, "oci", "images.txt"))
	if err != nil {
		return fmt.Errorf("cannot read the release %s: %w; run: make e2e", version, err)
	}
	for image := range strings.Lines(string(images)) {
		tag, _, _ := strings.Cut(strings.TrimSpace(image), "@")
		name := strings.TrimSuffix(path(tag), ":"+version)
		index, err := layout.ImageIndexFromPath(released(version, "oci", filepath.Base(name)))
		if err != nil {
			return fmt.Errorf("cannot read image %q: %w", name, err)
		}
		if err := im.pushLayout(ctx, path(tag), index); err != nil {
			return err
		}
	}
	return nil
}

// A program is what an image consists of.
type program struct {
	files   map[string]string // files and folders of this machine, by their paths in the image
	command []string
}

// others returns the images that are not Koldun's, under the names that manifests and the
// chart give them.
func others(ctx context.Context) (map[string]program, error) {
	bin, models := filepath.Join(repository, "bin"), filepath.Join(repository, "examples", "models")
	hub, err := platform.Build(ctx, repository, "test/node/hub")
	if err != nil {
		return nil, err
	}
	probe, err := platform.Build(ctx, repository, "test/node/probe")
	if err != nil {
		return nil, err
	}
	csi, err := platform.Build(ctx, repository, "test/node/csi")
	if err != nil {
		return nil, err
	}
	nats, err := imageIn("package/nats/servers.yaml")
	if err != nil {
		return nil, err
	}
	module, err := os.ReadFile(filepath.Join(repository, "test", "tools", "crossplane", "go.mod"))
	if err != nil {
		return nil, err
	}
	version := regexp.MustCompile(`crossplane/crossplane/v2 (\S+)`).FindSubmatch(module)
	if version == nil {
		return nil, errors.New("cannot find the version of Crossplane in its module")
	}
	crossplane := filepath.Join(bin, "crossplane.d")
	return map[string]program{
		path(distributedllama.Image): {files: map[string]string{"/": filepath.Join(repository, "_output", "distributed-llama")}},
		"crossplane/crossplane:" + string(version[1]): {
			files: map[string]string{
				"/crossplane": filepath.Join(bin, "crossplane"), "/crds": filepath.Join(crossplane, "crds"),
				"/webhookconfigurations": filepath.Join(crossplane, "webhookconfigurations"),
			},
			command: []string{"/crossplane"},
		},
		nats: {files: map[string]string{"/nats-server": filepath.Join(bin, "nats-server")}, command: []string{"/nats-server"}},
		// The hub has a small model also under the name of the one in README.md.
		"hub:v1":     {files: map[string]string{"/hub": hub, "/models": models, "/models/TinyLlama-1.1B-Chat-v1.0": filepath.Join(models, "koldun-tiny")}, command: []string{"/hub"}},
		"probe:v1":   {files: map[string]string{"/probe": probe}, command: []string{"/probe"}},
		"skipper:v1": {files: map[string]string{"/skipper": filepath.Join(bin, "skipper")}, command: []string{"/skipper"}},
		"csi:v1":     {files: map[string]string{"/csi": csi}, command: []string{"/csi"}},
	}, nil
}

// imageIn returns the name of the image in a manifest, without its host.
func imageIn(manifest string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(repository, manifest))
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`(?m)^ +image: (\S+)$`).FindSubmatch(raw)
	if found == nil {
		return "", fmt.Errorf("cannot find an image in %q", manifest)
	}
	return path(string(found[1])), nil
}

// path returns the name of an image without its host.
func path(image string) string {
	_, path, _ := strings.Cut(image, "/")
	return path
}

// pushLayout pushes the only image or list of images of an image layout.
func (im *images) pushLayout(ctx context.Context, ref string, index v1.ImageIndex) error {
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
	return kubernetes.Push(ctx, im.registry, ref, one)
}
