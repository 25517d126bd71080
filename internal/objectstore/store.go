// Package objectstore reads and writes model files in an S3 bucket or a directory.
//
// Both look the same: a flat set of named objects under one root, written
// whole or not at all. Errors carry a fault kind: NotFound, Denied, Quota,
// Transient, Invalid.
package objectstore

import (
	"context"
	"io"
	"time"
)

// An Object is what a store knows of one stored object.
type Object struct {
	Name     string    // path below the store's root, with slashes
	Size     int64     // bytes
	ETag     string    // as the server reports it; empty for directories
	Modified time.Time //
}

// A Store is one root: an S3 bucket and key prefix, or a directory. It is safe
// for concurrent use. Every call blocks until done or until ctx ends.
type Store interface {
	// URL names the root in messages and manifests: s3://bucket/prefix or
	// file:///dir. It never holds credentials.
	URL() string
	// Stat describes one object. NotFound if there is none.
	Stat(ctx context.Context, name string) (Object, error)
	// Open reads length bytes from offset; a negative length reads to the
	// end. The caller closes the reader. A stream that ends early fails with
	// io.ErrUnexpectedEOF, never with io.EOF.
	Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)
	// List returns all objects below the root whose name starts with prefix,
	// sorted by name.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Put writes a small object in one step, replacing what is there.
	Put(ctx context.Context, name string, body []byte) error
	// Remove deletes one object; no object is no error.
	Remove(ctx context.Context, name string) error
	// Upload begins a write in parts, or continues the one that an earlier
	// process began for the same name and the same token.
	Upload(ctx context.Context, name string, o UploadOptions) (Upload, error)
}

// UploadOptions describe a write in parts.
type UploadOptions struct {
	// Size of the whole object in bytes.
	Size int64
	// PartSize in bytes: all parts but the last have exactly this size. S3
	// wants 5 MiB to 5 GiB and at most 10,000 parts (Amazon S3 User Guide,
	// "Multipart upload limits").
	PartSize int64
	// Token identifies the content (a digest, or commit and path). Parts of
	// an unfinished upload are reused only if its token is the same.
	Token string
}

// An Upload is a write in parts. Nothing is visible under the name until
// Complete; an Upload neither completed nor aborted can be continued.
type Upload interface {
	// Stored lists the parts that are already there, by number from 1, with
	// their sizes in bytes.
	Stored() map[int]int64
	// ReadPart reads back a stored part. Unsupported if the store cannot (S3
	// has no such call); then a digest over the whole object needs the part
	// written again.
	ReadPart(ctx context.Context, number int) (io.ReadCloser, error)
	// WritePart stores one part; numbers count from 1. Safe for concurrent
	// use with different numbers. The body is not kept after the return.
	WritePart(ctx context.Context, number int, body []byte) error
	// Complete makes the object visible. All parts must be stored.
	Complete(ctx context.Context) (Object, error)
	// Abort drops the parts.
	Abort(ctx context.Context) error
}
