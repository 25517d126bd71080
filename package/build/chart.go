package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// chartFolder is the Helm chart, which has the name of the program.
const chartFolder = "package/chart"

// chart writes the archive of the Helm chart as helm package does, with the version of
// the build, but the same bytes each time.
func (b *build) chart() error {
	if _, err := os.Stat(filepath.Join(chartFolder, "Chart.yaml")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var content []file
	err := filepath.WalkDir(chartFolder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(chartFolder, path)
		if err != nil {
			return err
		}
		text, err := b.pinned(path)
		if err != nil {
			return err
		}
		content = append(content, file{"koldun/" + filepath.ToSlash(name), text, 0o644})
		return nil
	})
	if err != nil {
		return err
	}
	archive, err := b.tarball(content...)
	if err != nil {
		return err
	}
	return b.write(files, "koldun-"+b.number()+".tgz", archive)
}
