// Package objectstore reads and writes model files in an S3 bucket or a directory.
//
// Both look the same: a flat set of named objects under one root, written
// whole or not at all. Errors carry a fault kind: NotFound, Denied, Quota,
// Transient, Conflict, Invalid, Interrupted.
package objectstore

import (
	"context"
	"io"
	"time"
)

// WorkDir is the folder below every root in which the store keeps unfinished
// uploads. Objects in it are not listed and cannot be named.
const WorkDir = ".koldun"

// An Object is what a store knows of one stored object.
type Object struct {
	Name     string    // path below the store's root, with slashes
	Size     int64     // bytes
	ETag     string    // as the server reports it; empty for directories
	Modified time.Time //
	// Token is that of the Upload that wrote exactly the bytes that are there
	// now. Empty if it is not known, and always in listings.
	Token string
}

// A Store is one root: an S3 bucket and key prefix, or a directory. It is safe
// for concurrent use. Every call blocks until done or until ctx ends. Names
// are paths with slashes that fs.ValidPath accepts; others are Invalid.
type Store interface {
	// URL names the root in messages and manifests: s3://bucket/prefix or
	// file:///dir. It never holds credentials.
	URL() string
	// Stat describes one object. NotFound if there is none.
	Stat(ctx context.Context, name string) (Object, error)
	// Open reads length bytes from offset; a negative length reads to the
	// end. The caller closes the reader. A stream that ends early, also
	// because the object is shorter, fails with io.ErrUnexpectedEOF, never
	// with io.EOF. An offset beyond the end is Invalid.
	Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)
	// List returns all objects below the root whose name starts with prefix,
	// sorted by name.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Put writes a small object in one step, replacing what is there.
	Put(ctx context.Context, name string, body []byte) error
	// Remove deletes one object; no object is no error.
	Remove(ctx context.Context, name string) error
	// Upload begins a write in parts, or continues the one that was begun for
	// the same name with the same options. An unfinished upload of the same
	// name with other options is dropped.
	Upload(ctx context.Context, name string, o UploadOptions) (Upload, error)
	// AbortUploads drops the unfinished uploads that this package began below
	// the root, except for names that keep accepts. A nil keep keeps none.
	AbortUploads(ctx context.Context, keep func(name string) bool) error
}

// UploadOptions describe a write in parts.
type UploadOptions struct {
	// Size of the whole object in bytes.
	Size int64
	// PartSize in bytes: all parts but the last have exactly this size. S3
	// wants 5 MiB to 5 GiB and at most 10,000 parts (Amazon S3 User Guide,
	// "Multipart upload limits").
	PartSize int64
	// Token identifies the content (a digest, or commit and path): printable
	// ASCII, at most 512 bytes. Parts of an unfinished upload are reused only if
	// its token is the same.
	Token string
}

// Parts is the number of parts, at least one.
func (o UploadOptions) Parts() int {
	if o.Size <= o.PartSize {
		return 1
	}
	return int((o.Size + o.PartSize - 1) / o.PartSize)
}

// PartLen is the size of a part in bytes; numbers count from 1.
func (o UploadOptions) PartLen(number int) int64 {
	return min(o.PartSize, o.Size-int64(number-1)*o.PartSize)
}

// An Upload is a write in parts. Nothing is visible under the name until
// Complete; an Upload neither completed nor aborted can be continued.
type Upload interface {
	// Stored lists the parts that are already there, by number from 1, with
	// their sizes in bytes.
	Stored() map[int]int64
	// State is what SaveState kept last, by this process or an earlier one;
	// nil if nothing was. The caller must not change it.
	State() []byte
	// SaveState keeps a few bytes with the upload for whoever continues it,
	// such as the state of a digest over the parts. It is as durable as the
	// parts. Not safe for concurrent use with itself.
	SaveState(ctx context.Context, state []byte) error
	// ReadPart reads back a stored part. Unsupported if the store cannot (S3
	// has no such call); then a digest over the whole object needs SaveState,
	// or the part written again.
	ReadPart(ctx context.Context, number int) (io.ReadCloser, error)
	// WritePart stores one part; numbers count from 1. Safe for concurrent
	// use with different numbers. The body is not kept after the return.
	// Conflict means that somebody else completed or dropped the upload.
	WritePart(ctx context.Context, number int, body []byte) error
	// Complete makes the object visible. All parts must be stored.
	Complete(ctx context.Context) (Object, error)
	// Abort drops the parts.
	Abort(ctx context.Context) error
	// Close lets go of the upload. Without Complete or Abort before it, the
	// upload stays for whoever continues it. It may be called more than once.
	Close() error
}
