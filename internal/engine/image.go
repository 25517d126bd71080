package engine

import (
	"cmp"
	"strings"
)

// Repository is where releases publish Koldun's image.
const Repository = "ghcr.io/gorizond/koldun"

// OwnImage reports whether an image is Koldun's own, in any version: that of a
// release, or the one from which this Koldun composes its pods. Such an image
// holds no engine but the embedded one.
func OwnImage(image, koldun string) bool {
	r := RepositoryOf(image)
	return r != "" && (r == Repository || r == RepositoryOf(koldun))
}

// Trusted reports whether an image may hold logins: Koldun's own, and if this Koldun
// composes its pods by a digest, then by that one. A tag or another digest could be a version
// with known faults.
func Trusted(image, koldun string) bool {
	_, pinned, found := strings.Cut(koldun, "@")
	return OwnImage(image, koldun) && (!found || strings.HasSuffix(image, "@"+pinned))
}

// RepositoryOf returns an image's name without its tag and digest.
func RepositoryOf(image string) string {
	name, _, _ := strings.Cut(image, "@")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name = name[:i]
	}
	return name
}

// ImageFor returns the image of the engine's containers: the first of those that
// a claim names, else the engine's own. koldun is Koldun's own image, which
// counts as none in any version: the arguments are those of koldun's version.
func (e Engine) ImageFor(koldun string, named ...string) string {
	for _, image := range named {
		if image != "" && !OwnImage(image, koldun) {
			return image
		}
	}
	return cmp.Or(e.Image, koldun)
}
