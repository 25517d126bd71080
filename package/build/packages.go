package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// A build is the state of one run.
type build struct {
	source
	platforms []string
	trimpath  bool
	channel   string
	out       string
	digests   map[string]string  // of images and packages, by their names
	foreign   map[string]string  // digests of images of others, by their references
	modules   map[string]modules // that programs consist of, by their names
}

// Folders of the result.
const (
	layouts = "oci"   // an OCI image layout of each image and package
	files   = "files" // what users download
)

// packages writes images, packages and manifests: first those that others name by their
// digests.
func (b *build) packages(ctx context.Context) error {
	if err := b.images(ctx, "koldun", recipe{program: "cmd/koldun"}); err != nil {
		return err
	}
	for _, name := range []string{"koldun-function", "koldun-provider", "koldun-configuration", "koldun-configuration-claims"} {
		if err := b.images(ctx, name, recipes()[name]); err != nil {
			return err
		}
	}
	var list strings.Builder
	for _, name := range sorted(b.digests) {
		fmt.Fprintln(&list, b.named(name))
	}
	if err := b.write(layouts, "images.txt", []byte(list.String())); err != nil {
		return err
	}
	return b.manifests()
}

// images writes the images of one repository.
func (b *build) images(ctx context.Context, name string, r recipe) error {
	var objects []byte
	if r.meta != "" {
		var err error
		if objects, err = r.objects(".", b.edit); err != nil {
			return err
		}
	}
	images := map[string]v1.Image{}
	for _, arch := range b.architectures(r) {
		var binary []byte
		var err error
		if r.program != "" {
			variables := map[string]string{}
			if name == "koldun-function" { // it composes pods of the image
				variables["main.image"] = b.named("koldun")
			}
			if binary, err = b.program(ctx, name, r.program, "linux/"+arch, variables); err != nil {
				return err
			}
		}
		if images[arch], err = oneImage(b.source, cmp.Or(arch, "amd64"), binary, objects); err != nil {
			return fmt.Errorf("cannot build image %q: %w", name, err)
		}
	}
	digest, err := saveLayout(filepath.Join(b.out, layouts, name), b.source, images)
	if err != nil {
		return fmt.Errorf("cannot write image %q: %w", name, err)
	}
	b.digests[name] = digest
	return nil
}

// architectures returns those of Linux, and for a package that runs nothing the empty one.
func (b *build) architectures(r recipe) []string {
	if r.program == "" {
		return []string{""}
	}
	var out []string
	for _, p := range b.platforms {
		if arch, ok := strings.CutPrefix(p, "linux/"); ok {
			out = append(out, arch)
		}
	}
	return out
}

// edit gives an object of a package the versions and the channel of the build.
func (b *build) edit(text string) string {
	text = b.pin(text)
	if b.channel == "stable" {
		return text
	}
	// A Function of their own composes Compositions of another channel.
	const function = "name: gorizond-koldun-function"
	text = strings.ReplaceAll(text, "gorizond.io/channel: stable", "gorizond.io/channel: "+b.channel)
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.HasSuffix(strings.TrimRight(line, "\n"), function) {
			lines[i] = strings.Replace(line, function, function+"-"+b.channel, 1)
		}
	}
	return strings.Join(lines, "")
}

// write writes a file of the result.
func (b *build) write(folder, name string, content []byte) error {
	path := filepath.Join(b.out, folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644) //nolint:gosec // a file to be shared
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
