package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/internal/engine/distributedllama"
)

var validDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// foreignImages returns the images that a release names and that another build publishes:
// those of servers, of Crossplane, and the default image of rings. The digests that
// registries have for them are found when a release is built.
func foreignImages(ctx context.Context) ([]string, error) {
	out := []string{distributedllama.Image}
	for _, folder := range []string{"package/nats", "package/s3"} {
		err := walk(folder, "", func(path, _ string) error {
			raw, err := os.ReadFile(filepath.Clean(path))
			for _, found := range imageField.FindAllSubmatch(raw, -1) {
				if image := string(found[1]); !reference.MatchString(image) {
					out = append(out, image)
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	version, folder, err := crossplane(ctx)
	if err != nil {
		return nil, err
	}
	image, err := crossplaneImage(version, folder)
	out = append(out, image)
	slices.Sort(out)
	return slices.Compact(out), err
}

// crossplaneImage returns the image of the chart of Crossplane, whose version and folder
// crossplane returns.
func crossplaneImage(version, folder string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(folder, crossplaneChart, "values.yaml"))
	if err != nil {
		return "", err
	}
	var values struct {
		Image struct {
			Repository string `json:"repository"`
		} `json:"image"`
	}
	if err := yaml.Unmarshal(raw, &values); err != nil {
		return "", err
	}
	return values.Image.Repository + ":v" + version, nil
}

// checkDigests returns an error for a digest that is none, or that is of an image that a
// release does not name.
func checkDigests(ctx context.Context, digests map[string]string) error {
	if len(digests) == 0 {
		return nil
	}
	images, err := foreignImages(ctx)
	if err != nil {
		return err
	}
	for _, image := range sorted(digests) {
		if !slices.Contains(images, image) {
			return fmt.Errorf("cannot name image %q by its digest: a release names %s", image, strings.Join(images, ", "))
		}
		if !validDigest.MatchString(digests[image]) {
			return fmt.Errorf("cannot name image %q by the digest %q: it is not sha256: and 64 hexadecimal digits", image, digests[image])
		}
	}
	return nil
}

// pinCrossplane returns the values of Crossplane's chart with the digest of its image, if
// that is known, in the tag: the chart has no value for it.
func (b *build) pinCrossplane(version, folder string, values []byte) ([]byte, error) {
	image, err := crossplaneImage(version, folder)
	if err != nil || b.foreign[image] == "" {
		return values, err
	}
	const none = "\n  tag: \"\"\n"
	if strings.Count(string(values), none) != 1 {
		return nil, fmt.Errorf("cannot write the digest of %q into the values of Crossplane's chart: they have no empty image.tag", image)
	}
	tag := image[strings.LastIndex(image, ":")+1:]
	return []byte(strings.Replace(string(values), none, "\n  tag: "+tag+"@"+b.foreign[image]+"\n", 1)), nil
}
