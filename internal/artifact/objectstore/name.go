package objectstore

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// CheckName returns an Invalid error for a name that could leave the root, means
// different objects in S3 and in a folder, or lies in WorkDir.
func CheckName(name string) error {
	if name == "." || !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") {
		return fault.Errorf(fault.Invalid, "%q cannot name an object: write a relative path with slashes", name)
	}
	first, _, _ := strings.Cut(name, "/")
	if first == WorkDir {
		return fault.Errorf(fault.Invalid, "%q cannot name an object: %s is reserved", name, WorkDir)
	}
	return nil
}

// Limits of S3. They hold for folders too, so that both stores accept the same.
const (
	minPartSize = 5 << 20
	maxPartSize = 5 << 30
	maxParts    = 10_000
	maxToken    = 512
)

// Check returns an Invalid error for options outside of the limits of S3.
func (o UploadOptions) Check() error {
	switch {
	case o.Size < 0:
		return fault.Errorf(fault.Invalid, "the size %d is negative", o.Size)
	case o.PartSize < minPartSize || o.PartSize > maxPartSize:
		return fault.Errorf(fault.Invalid, "the part size %d is not between 5 MiB and 5 GiB", o.PartSize)
	case o.Parts() > maxParts:
		return fault.Errorf(fault.Invalid, "%d bytes in parts of %d are more than %d parts", o.Size, o.PartSize, maxParts)
	case o.Token == "" || len(o.Token) > maxToken:
		return fault.Errorf(fault.Invalid, "the token must have 1 to %d bytes", maxToken)
	}
	for _, c := range []byte(o.Token) {
		if c <= ' ' || c > '~' {
			return fault.Errorf(fault.Invalid, "the token %q is not printable ASCII", o.Token)
		}
	}
	return nil
}

// CheckPart returns an Invalid error for a part that does not fit the upload.
func (o UploadOptions) CheckPart(number, size int) error {
	if number < 1 || number > o.Parts() {
		return fault.Errorf(fault.Invalid, "there is no part %d of %d", number, o.Parts())
	}
	if int64(size) != o.PartLen(number) {
		return fault.Errorf(fault.Invalid, "part %d has %d bytes, want %d", number, size, o.PartLen(number))
	}
	return nil
}

// WorkName returns the base name of the work files of an upload.
func WorkName(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}
