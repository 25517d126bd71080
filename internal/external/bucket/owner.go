package bucket

import (
	"context"
	"fmt"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

// ownership is who may change a bucket: the owner that its tags name.
type ownership struct {
	server server
	tags   tags
	bound  *s3store.Bound
}

// owner returns the owner of the spec. A namespace that is bound to a folder owns no bucket,
// not even one that it has made.
func (o ownership) owner(s Spec) external.Owner {
	out := s.Owner
	out.Folder = o.bound.FolderIn()
	return out
}

// may returns why the spec must not change or delete the bucket. A server that has no tags
// knows no owners.
func (o ownership) may(ctx context.Context, s Spec) error {
	_, mark, err := o.tags.get(ctx, s.BucketName)
	if fault.Is(s3store.Fault(err), fault.NotFound) {
		return nil // there is no bucket
	}
	if err != nil && !secondary(err) {
		return o.server.aspectError("read", "tags", s.BucketName, err)
	}
	return o.owner(s).Check(fmt.Sprintf("bucket %q", s.BucketName), mark)
}

// mark records the owner of a new bucket, on a server that has tags.
func (o ownership) mark(ctx context.Context, s Spec) error {
	mark := o.owner(s).Mark()
	if mark == "" {
		return nil
	}
	if err := o.tags.put(ctx, s.BucketName, nil, mark); err != nil && !secondary(err) {
		return err
	}
	return nil
}
