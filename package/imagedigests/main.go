// Command imagedigests compares the images of internal/engine/images with their registries: it
// writes the digest of each that has none, fails for a tag that has become another image, and
// lists newer tags. Run it from the root of the repository.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

const file = "internal/engine/images/images.go"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := update(ctx, file, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "imagedigests:", err)
		stop()
		os.Exit(1)
	}
}

// update writes the digests that a file lacks, and writes to out what is newer.
func update(ctx context.Context, file string, out io.Writer) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, news, problems := pin(string(raw), func(image string) (found, error) { return look(ctx, image) })
	if _, err := io.WriteString(out, strings.Join(news, "")); err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // a file of the repository
		return err
	}
	return problems
}

// found is what a registry has of an image.
type found struct {
	digest string   // of its tag
	tags   []string // of its repository
}

// look asks the registry of an image, with the credentials of this user.
func look(ctx context.Context, image string) (found, error) {
	ref, err := name.NewTag(image, name.StrictValidation)
	if err != nil {
		ref, err = name.NewTag(image)
	}
	if err != nil {
		return found{}, err
	}
	head, err := remote.Head(ref, remote.WithContext(ctx))
	if err != nil {
		return found{}, fmt.Errorf("cannot read image %q: %w", image, err)
	}
	tags, err := remote.List(ref.Context(), remote.WithContext(ctx))
	if err != nil {
		return found{}, fmt.Errorf("cannot list tags of %q: %w", ref.Context(), err)
	}
	return found{digest: head.Digest.String(), tags: tags}, nil
}

// constant is an image in the file: a name, a repository with a tag, and maybe a digest.
var constant = regexp.MustCompile(`(\w+\s+= ")([^"@\s]+:[^"@/]+)(?:@(sha256:[0-9a-f]{64}))?(")`)

// pin returns the text with the digests that it lacked, and newer tags. What cannot be read, or is
// not what the text says, is an error, which leaves the rest as it is found.
func pin(text string, look func(image string) (found, error)) (pinned string, news []string, problems error) {
	pinned = constant.ReplaceAllStringFunc(text, func(line string) string {
		parts := constant.FindStringSubmatch(line)
		image, digest := parts[2], parts[3]
		has, err := look(image)
		switch {
		case err != nil:
			problems = errors.Join(problems, err)
			return line
		case digest != "" && has.digest != digest:
			problems = errors.Join(problems, fmt.Errorf("the tag of image %q is another image now: %s instead of %s", image, has.digest, digest))
			return line
		}
		if tags := newer(image[strings.LastIndexByte(image, ':')+1:], has.tags); len(tags) > 0 {
			news = append(news, image+": newer: "+strings.Join(tags, ", ")+"\n")
		}
		return parts[1] + image + "@" + has.digest + parts[4]
	})
	return pinned, news, problems
}
