package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// unreleased is the version of everything in the repository.
const unreleased = "v0.0.0"

// ghcr has all images and packages.
const ghcr = "ghcr.io/gorizond/"

var (
	validVersion = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z]+([.-][0-9A-Za-z]+)*)?$`)
	// The forms in which files name a version: an image, a dependency of a package, and
	// the versions of a Helm chart.
	reference  = regexp.MustCompile(`\bghcr\.io/gorizond/(koldun[a-z-]*):v0\.0\.0\b`)
	dependency = regexp.MustCompile(`(package: ghcr\.io/gorizond/(koldun[a-z-]*)\n\s+version: )v0\.0\.0\b`)
	chartField = regexp.MustCompile(`(?m)^(version|appVersion): "?v?0\.0\.0"?$`)
	imageField = regexp.MustCompile(`(?m)^[ -]*image: (\S+)$`)
	anyVersion = regexp.MustCompile(`\bv0\.0\.0\b`)
)

// pin returns a file of the repository with the version of the build, and with the
// digests of what is built and of the images of others, as far as they are known.
func (b *build) pin(text string) string {
	text = reference.ReplaceAllStringFunc(text, func(found string) string {
		return b.named(reference.FindStringSubmatch(found)[1])
	})
	text = dependency.ReplaceAllStringFunc(text, func(found string) string {
		parts := dependency.FindStringSubmatch(found)
		if digest := b.digests[parts[2]]; digest != "" {
			return parts[1] + digest
		}
		return parts[1] + b.version
	})
	text = imageField.ReplaceAllStringFunc(text, func(found string) string {
		if digest := b.foreign[imageField.FindStringSubmatch(found)[1]]; digest != "" {
			return found + "@" + digest
		}
		return found
	})
	return chartField.ReplaceAllStringFunc(text, func(found string) string {
		if name, _, _ := strings.Cut(found, ":"); name == "version" {
			return name + ": " + b.number()
		}
		return "appVersion: " + b.version
	})
}

// named returns the reference of an image or a package: with its digest, if that is known.
func (b *build) named(name string) string {
	out := ghcr + name + ":" + b.version
	if digest := b.digests[name]; digest != "" {
		out += "@" + digest
	}
	return out
}

// number is the version without its v, as Helm and Terraform write it.
func (b *build) number() string { return strings.TrimPrefix(b.version, "v") }

// pinned returns a file with the version of the build.
func (b *build) pinned(path string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	text := b.pin(string(raw))
	var code strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			code.WriteString(line)
		}
	}
	if b.version != unreleased && anyVersion.MatchString(strings.ReplaceAll(code.String(), b.version, "")) {
		return nil, fmt.Errorf("cannot write the version into %q: it has %s in a form that this program does not know: see pins.go", path, unreleased)
	}
	return []byte(text), nil
}
