package bucket

import (
	"cmp"
	"context"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

var _ external.Viewer[Spec] = (*Client)(nil)

// View reads the aspects that the spec mentions. With AllFields it also reads the
// others, as far as the server implements them and allows it.
func (c *Client) View(ctx context.Context, s Spec, scope external.Scope) (Spec, error) {
	if scope == external.AllFields {
		if _, exists, err := c.server.head(ctx, s.BucketName); err != nil || !exists {
			return Spec{}, cmp.Or(err, fault.Errorf(fault.NotFound, "cannot view bucket %q%s: it does not exist", s.BucketName, c.server.at()))
		}
	}
	out := s
	for _, a := range c.all(s) {
		viewed, ok := a.aspect.(viewedAspect)
		if !ok || !a.asked && scope == external.SpecFields {
			continue
		}
		if err := viewed.view(ctx, &out); err != nil && (a.asked || !secondary(err)) {
			return Spec{}, c.server.aspectError("view", a.name, s.BucketName, err)
		}
	}
	return out, nil
}

// secondary reports whether an aspect that the spec does not mention may be left
// out for an error.
func secondary(err error) bool {
	return code(err) == "NotImplemented" || code(err) == "MethodNotAllowed" || fault.Is(s3store.Fault(err), fault.Denied)
}
