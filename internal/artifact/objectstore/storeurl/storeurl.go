// Package storeurl opens the object store that a URL names.
package storeurl

import (
	"context"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/modelref"
)

// Open opens s3://BUCKET[/PREFIX], file:///FOLDER, or a path that begins with
// "/", "./" or "../". It creates nothing and sends no request; a missing bucket
// or folder shows at the first call. Errors: Invalid.
func Open(ctx context.Context, url string, cfg s3.Config) (objectstore.Store, error) {
	ref, err := modelref.Parse(url)
	if err != nil {
		return nil, fault.As(fault.Invalid, err)
	}
	switch ref.Scheme {
	case modelref.S3:
		return s3.Open(ctx, ref.Bucket, ref.Path, cfg)
	case modelref.File:
		return dir.Open(ref.Path)
	}
	return nil, fault.Errorf(fault.Invalid, "cannot open store %q: write s3://BUCKET/PREFIX or file:///FOLDER", url)
}
