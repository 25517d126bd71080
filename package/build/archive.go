package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
)

// A file is a file of an archive.
type file struct {
	name    string
	content []byte
	mode    int64
}

// tarball returns a compressed archive whose files have the time of the commit and no
// owner.
func (b *build) tarball(content ...file) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, f := range content {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), Typeflag: tar.TypeReg, ModTime: b.date, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// zipped returns a zip archive of an executable file with the time of the commit.
func (b *build) zipped(f file) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: b.date}
	h.SetMode(0o755)
	entry, err := w.CreateHeader(h)
	if err != nil {
		return nil, err
	}
	if _, err := entry.Write(f.content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
