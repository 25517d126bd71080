// Command build writes the packages and images of Koldun in the format of docker
// save, which crossplane xpkg push and every container tool read.
//
// It reads folders that hold nothing else, so that nothing gets into a package
// by accident. The same input gives the same bytes.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"
)

// CLI is the command line.
type CLI struct {
	Package PackageCmd `cmd:"" help:"Build a Crossplane package from a staging folder."`
	Image   ImageCmd   `cmd:"" help:"Build an image that holds one static binary."`
}

// PackageCmd builds one package.
type PackageCmd struct {
	Stage  string `required:"" type:"existingdir" help:"Folder with crossplane.yaml and the objects of the package, all of which go in."`
	Binary string `type:"existingfile" help:"Static binary that the package runs. Without it the package only holds objects."`
	Arch   string `default:"amd64" enum:"amd64,arm64" help:"Architecture of the binary."`
	Out    string `required:"" help:"File to write."`
}

// Run builds.
func (c *PackageCmd) Run() error {
	objects, err := stream(c.Stage)
	if err != nil {
		return err
	}
	var layers []layer
	if c.Binary != "" {
		l, err := binary(c.Binary)
		if err != nil {
			return err
		}
		layers = append(layers, l)
	}
	l, err := pack(packageFile, objects, 0o644)
	if err != nil {
		return err
	}
	l.kind = "base"
	return write(c.Out, image{arch: c.Arch, layers: append(layers, l), run: c.Binary != ""})
}

// ImageCmd builds one image.
type ImageCmd struct {
	Binary string `required:"" type:"existingfile" help:"Static binary."`
	Arch   string `default:"amd64" enum:"amd64,arm64" help:"Architecture of the binary."`
	Tag    string `default:"ghcr.io/gorizond/koldun:latest" help:"Name of the image."`
	Out    string `required:"" help:"File to write."`
}

// Run builds.
func (c *ImageCmd) Run() error {
	l, err := binary(c.Binary)
	if err != nil {
		return err
	}
	return write(c.Out, image{arch: c.Arch, layers: []layer{l}, run: true, tag: c.Tag})
}

func binary(path string) (layer, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return layer{}, err
	}
	return pack(entrypoint, raw, 0o755)
}

func write(path string, i image) error {
	raw, err := i.archive()
	if err != nil {
		return fmt.Errorf("cannot build %q: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o644) //nolint:gosec // a file to be shared
}

func main() {
	ctx := kong.Parse(&CLI{}, kong.Name("build"), kong.Description("Builds the packages and images of Koldun."))
	ctx.FatalIfErrorf(ctx.Run())
}
