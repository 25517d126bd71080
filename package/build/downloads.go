package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// commandLine writes archives of the program koldun.
func (b *build) commandLine(ctx context.Context) error {
	for _, platform := range b.platforms {
		program, err := b.program(ctx, "koldun", "cmd/koldun", platform, nil)
		if err != nil {
			return err
		}
		content := []file{{"koldun", program, 0o755}}
		for _, name := range []string{"LICENSE", "README.md"} {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			content = append(content, file{name, text, 0o644})
		}
		archive, err := b.tarball(content...)
		if err != nil {
			return err
		}
		if err := b.write(files, "koldun_"+b.target(platform)+".tar.gz", archive); err != nil {
			return err
		}
	}
	return nil
}

// target ends the names of files for a platform, such as 1.2.3_linux_amd64.
func (b *build) target(platform string) string {
	return b.number() + "_" + strings.ReplaceAll(platform, "/", "_")
}

// terraform writes the Terraform provider as registries expect it: an archive for each
// platform, a manifest, and the digests of all of these, which the release workflow signs.
// https://developer.hashicorp.com/terraform/registry/providers/publishing
func (b *build) terraform(ctx context.Context) error {
	const name = "terraform-provider-koldun"
	content := map[string][]byte{}
	for _, platform := range b.platforms {
		program, err := b.program(ctx, name, "terraform-provider", platform, nil)
		if err != nil {
			return err
		}
		if content[name+"_"+b.target(platform)+".zip"], err = b.zipped(file{name: name + "_" + b.version, content: program}); err != nil {
			return err
		}
	}
	manifest, err := json.MarshalIndent(map[string]any{
		"version": 1, "metadata": map[string]any{"protocol_versions": []string{"6.0"}},
	}, "", "  ")
	if err != nil {
		return err
	}
	content[name+"_"+b.number()+"_manifest.json"] = append(manifest, '\n')
	content[name+"_"+b.number()+"_SHA256SUMS"] = digests(content)
	for _, file := range sorted(content) {
		if err := b.write(files, file, content[file]); err != nil {
			return err
		}
	}
	return nil
}

// digests returns the digests of files as sha256sum prints them.
func digests(content map[string][]byte) []byte {
	var out strings.Builder
	for _, name := range sorted(content) {
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(content[name]), name)
	}
	return []byte(out.String())
}

// sums writes the digests of all files that users download. It comes last.
func (b *build) sums() error {
	entries, err := os.ReadDir(filepath.Join(b.out, files))
	if err != nil {
		return err
	}
	content := map[string][]byte{}
	for _, e := range entries {
		if content[e.Name()], err = os.ReadFile(filepath.Join(b.out, files, e.Name())); err != nil {
			return err
		}
	}
	return b.write(files, "SHA256SUMS", digests(content))
}
