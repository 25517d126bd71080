package kubernetes

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/gorizond/koldun/test/cluster/platform"
)

// pauseImage is the image that holds the namespaces of a pod.
const pauseImage = Registry + "/pause:v1"

// pushOwnImages pushes the images of what runs in pods of every cluster.
func (n *Node) pushOwnImages(ctx context.Context) error {
	root := filepath.Dir(n.bin)
	pause, err := platform.Build(ctx, root, "test/node/kubernetes/pause")
	if err != nil {
		return err
	}
	for ref, file := range map[string]string{"pause:v1": pause, "coredns:v1": filepath.Join(n.bin, "coredns")} {
		image, err := Image(map[string]string{"/" + filepath.Base(file): file})
		if err != nil {
			return err
		}
		image, err = WithEntrypoint(image, "/"+filepath.Base(file))
		if err != nil {
			return err
		}
		if err := Push(ctx, Registry, ref, image); err != nil {
			return err
		}
	}
	return nil
}

// Image returns an image with the given files or folders of this machine, by their paths in
// the image. All are executable and belong to root.
func Image(files map[string]string) (v1.Image, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for to, from := range files {
		if err := add(w, to, from); err != nil {
			return nil, fmt.Errorf("cannot make image: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
		tarball.WithCompressionLevel(1))
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	return mutate.ConfigFile(image, config)
}

// WithEntrypoint returns an image that runs a program.
func WithEntrypoint(image v1.Image, command ...string) (v1.Image, error) {
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config := *file.Config.DeepCopy()
	config.Entrypoint, config.Env = command, []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	return mutate.Config(image, config)
}

// add adds a file, or all files of a folder.
func add(w *tar.Writer, to, from string) error {
	return filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path.Join(to, filepath.ToSlash(rel)), "/")
		if d.Type()&fs.ModeSymlink != 0 {
			link, err := os.Readlink(file)
			if err != nil {
				return err
			}
			return w.WriteHeader(&tar.Header{Name: name, Linkname: link, Typeflag: tar.TypeSymlink})
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
}
