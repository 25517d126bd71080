package objectstore

import (
	"context"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/modelref"
)

// Open opens the store that a URL names: s3://BUCKET[/PREFIX], file:///FOLDER,
// or a path that begins with "/", "./" or "../". It makes nothing and asks no
// server; a missing bucket or folder shows at the first call.
func Open(ctx context.Context, url string, cfg S3Config) (Store, error) {
	ref, err := modelref.Parse(url)
	if err != nil {
		return nil, fault.As(fault.Invalid, err)
	}
	switch ref.Scheme {
	case modelref.S3:
		return OpenS3(ctx, ref.Bucket, ref.Path, cfg)
	case modelref.File:
		return OpenDir(ref.Path)
	}
	return nil, fault.Errorf(fault.Invalid, "cannot open store %q: write s3://BUCKET/PREFIX or file:///FOLDER", url)
}
