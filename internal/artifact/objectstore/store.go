// Package objectstore defines the store of model files. Package s3 implements it
// for a bucket, package dir for a folder, and package storeurl opens either by URL.
//
// A store is a flat set of named objects under one root. Each object is written
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

// An Object describes one stored object.
type Object struct {
	Name     string // path below the store's root, with slashes
	Size     int64  // bytes
	ETag     string // as the server reports it; empty for directories
	Modified time.Time
	// Token of the Upload that wrote the current bytes. Empty if it is not known,
	// and always in listings.
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
	// end. The caller closes the reader. A stream that ends early, as that of a
	// shorter object does, fails with io.ErrUnexpectedEOF, never with io.EOF. An
	// offset beyond the end is Invalid.
	Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)
	// List returns all objects below the root whose name starts with prefix,
	// sorted by name.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Put writes a small object in one step and replaces an existing one.
	Put(ctx context.Context, name string, body []byte) error
	// Remove deletes one object; it succeeds if there is none.
	Remove(ctx context.Context, name string) error
	// Upload begins a write in parts, or continues the unfinished upload of the
	// same name and options. It drops an unfinished upload of the same name with
	// other options.
	Upload(ctx context.Context, name string, o UploadOptions) (Upload, error)
	// AbortUploads drops the unfinished uploads of Upload below the root, except
	// for names that keep accepts. A nil keep keeps none.
	AbortUploads(ctx context.Context, keep func(name string) bool) error
}

// A Locker is a Store that one process at a time can have for itself.
type Locker interface {
	// TryLock locks the root until unlock is called or the process ends. unlock is
	// nil if another process, or another caller in this one, holds the lock. It
	// protects nothing from those that do not call it.
	TryLock(ctx context.Context) (unlock func(), err error)
}

// Nested is a Store that may be inside of others.
type Nested interface {
	// Around returns the stores around this one, the nearest first.
	Around() ([]Store, error)
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

// Parts returns the number of parts, at least one.
func (o UploadOptions) Parts() int {
	if o.Size <= o.PartSize {
		return 1
	}
	return int((o.Size + o.PartSize - 1) / o.PartSize)
}

// PartLen returns the size of a part in bytes; numbers count from 1.
func (o UploadOptions) PartLen(number int) int64 {
	return min(o.PartSize, o.Size-int64(number-1)*o.PartSize)
}

// An Upload is a write in parts. Nothing is visible under the name until
// Complete; an Upload neither completed nor aborted can be continued.
type Upload interface {
	// Stored returns the sizes in bytes of the stored parts, by number from 1.
	Stored() map[int]int64
	// State returns what SaveState stored last, in this process or an earlier
	// one, or nil. The caller must not change it.
	State() []byte
	// SaveState stores a few bytes with the upload for the process that continues
	// it, such as the state of a digest over the parts. It is as durable as the
	// parts. Not safe for concurrent use with itself.
	SaveState(ctx context.Context, state []byte) error
	// ReadPart reads a stored part. Unsupported if the store cannot (S3 has no
	// such call); a digest over the whole object then needs SaveState, or the
	// part written again.
	ReadPart(ctx context.Context, number int) (io.ReadCloser, error)
	// WritePart stores one part; numbers count from 1. Safe for concurrent
	// use with different numbers. It does not retain body. Conflict means that
	// another writer completed or dropped the upload.
	WritePart(ctx context.Context, number int, body []byte) error
	// Complete makes the object visible. All parts must be stored.
	Complete(ctx context.Context) (Object, error)
	// Abort drops the parts.
	Abort(ctx context.Context) error
	// Close releases the upload. Without Complete or Abort before it, a later
	// Upload can continue it. It may be called more than once.
	Close() error
}
