// Command build writes what a release of Koldun consists of: images, Crossplane
// packages, manifests that install them, command-line programs and the Terraform
// provider.
//
// The same commit and the same Go give the same bytes: nothing depends on the time or
// on the folder. Run it from the root of the repository.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// CLI is the command line.
type CLI struct {
	Package  PackageCmd  `cmd:"" help:"Write one Crossplane package without its program, in the format of docker save."`
	Chart    ChartCmd    `cmd:"" help:"Write the Helm chart without digests of packages."`
	Packages PackagesCmd `cmd:"" help:"Write all images, packages and manifests."`
	Release  ReleaseCmd  `cmd:"" help:"Write all that a release publishes."`
	Images   ImagesCmd   `cmd:"" help:"Print the images of others that a release names, for --digest."`
}

// PackageCmd writes one package, for tests: they run the program by themselves.
type PackageCmd struct {
	Root string `default:"." type:"existingdir" help:"Folder of the repository."`
	Name string `required:"" help:"Name of the package, such as koldun-function."`
	Out  string `required:"" help:"File to write."`
}

// Run builds.
func (c *PackageCmd) Run() error {
	p, ok := recipes()[c.Name]
	if !ok {
		return fmt.Errorf("cannot build package %q: it is none of Koldun's", c.Name)
	}
	objects, err := p.objects(c.Root, func(text string) string { return text })
	if err != nil {
		return err
	}
	i, err := oneImage(source{}, "amd64", nil, objects)
	if err != nil {
		return fmt.Errorf("cannot build package %q: %w", c.Name, err)
	}
	return saveImage(c.Out, i)
}

// ChartCmd writes the chart, for tests and to render manifests from it.
type ChartCmd struct {
	Version    string `default:"v0.0.0" help:"Version, such as v1.2.3."`
	Crossplane bool   `default:"true" negatable:"" help:"Add the chart of Crossplane."`
	Out        string `required:"" help:"File to write."`
}

// Run builds.
func (c *ChartCmd) Run(ctx context.Context) error {
	b := &build{source: source{version: c.Version}}
	archive, err := b.chartArchive(ctx, c.Crossplane)
	if err != nil {
		return fmt.Errorf("cannot build the chart: %w", err)
	}
	return os.WriteFile(c.Out, archive, 0o644) //nolint:gosec // a file to be shared
}

// Source is what a build is made of.
type Source struct {
	Version   string   `required:"" help:"Version, such as v1.2.3."`
	Commit    string   `help:"Commit, for labels."`
	Date      int64    `env:"SOURCE_DATE_EPOCH" help:"Time of the commit in seconds since 1970, for labels and archives."`
	Platforms []string `default:"linux/amd64,linux/arm64,darwin/amd64,darwin/arm64" help:"Platforms to build for. Images are built for those with Linux."`
	Trimpath  bool     `default:"true" negatable:"" help:"Leave the paths of this machine out of programs. Tests keep them: nothing is compiled twice."`
	Channel   string   `default:"stable" help:"Channel of the Compositions."`
	Out       string   `required:"" type:"path" help:"Folder to write. It is emptied first."`

	Digest map[string]string `placeholder:"IMAGE:TAG=sha256:..." help:"Digest of an image that the command images prints. It is named without one otherwise."`
}

func (s Source) build(ctx context.Context) (*build, error) {
	if !validVersion.MatchString(s.Version) {
		return nil, fmt.Errorf("cannot build version %q: it is not vMAJOR.MINOR.PATCH: set a tag, or VERSION", s.Version)
	}
	if err := checkDigests(ctx, s.Digest); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(s.Out); err != nil {
		return nil, err
	}
	return &build{
		source:    source{version: s.Version, commit: s.Commit, date: time.Unix(s.Date, 0).UTC()},
		platforms: s.Platforms, trimpath: s.Trimpath, channel: s.Channel, out: s.Out, digests: map[string]string{}, foreign: s.Digest, modules: map[string]modules{},
	}, nil
}

// PackagesCmd writes packages.
type PackagesCmd struct{ Source }

// Run builds.
func (c *PackagesCmd) Run(ctx context.Context) error {
	b, err := c.build(ctx)
	if err != nil {
		return err
	}
	return b.packages(ctx)
}

// ReleaseCmd writes a release.
type ReleaseCmd struct {
	Source

	Helm string `default:"bin/helm" type:"existingfile" help:"Program that renders the chart."`
}

// Run builds.
func (c *ReleaseCmd) Run(ctx context.Context) error {
	b, err := c.build(ctx)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{b.packages, b.commandLine, b.terraform, b.chart, func(ctx context.Context) error { return b.everything(ctx, c.Helm) }} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	for _, step := range []func() error{b.materials, b.sums} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// ImagesCmd prints images, one a line.
type ImagesCmd struct{}

// Run prints.
func (*ImagesCmd) Run(ctx context.Context) error {
	images, err := foreignImages(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, strings.Join(images, "\n"))
	return err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	k := kong.Parse(&CLI{}, kong.Name("build"), kong.Description("Builds what a release of Koldun consists of."))
	k.BindTo(ctx, (*context.Context)(nil))
	k.FatalIfErrorf(k.Run())
}
