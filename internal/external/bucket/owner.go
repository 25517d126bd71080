package bucket

import (
	"context"
	"fmt"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

// owner returns the owner of the spec. A namespace that is bound to a folder owns no bucket,
// not even one that it has made.
func (c *Client) owner(s Spec) external.Owner {
	out := s.Owner
	out.Folder = c.config.Bound.FolderIn()
	return out
}

// may returns why the spec must not change or delete the bucket. A server that has no tags
// knows no owners.
func (c *Client) may(ctx context.Context, s Spec) error {
	_, mark, err := c.tags(ctx, s.BucketName)
	if fault.Is(s3store.Fault(err), fault.NotFound) {
		return nil // there is no bucket
	}
	if err != nil && !secondary(err) {
		return c.aspectError("read", "tags", s.BucketName, err)
	}
	return c.owner(s).Check(fmt.Sprintf("bucket %q", s.BucketName), mark)
}

// mark records the owner of a new bucket, on a server that has tags.
func (c *Client) mark(ctx context.Context, s Spec) error {
	mark := c.owner(s).Mark()
	if mark == "" {
		return nil
	}
	if err := c.putTags(ctx, s.BucketName, nil, mark); err != nil && !secondary(err) {
		return err
	}
	return nil
}
