package bucket

import (
	"context"
	"slices"
)

// An aspect is a part of a bucket's configuration with its own API calls.
type aspect interface {
	// same reports whether the bucket has what the spec sets.
	same(ctx context.Context, s Spec) (bool, error)
	set(ctx context.Context, s Spec) error
}

// A viewedAspect can be read into a spec.
type viewedAspect interface {
	view(ctx context.Context, s *Spec) error
}

// A namedAspect is an aspect of a bucket, and whether the spec sets it.
type namedAspect struct {
	aspect
	name  string
	asked bool
}

// all returns the aspects in the order in which they are set.
func (c *Client) all(s Spec) []namedAspect {
	return []namedAspect{
		{versioning{c.server.s3}, "versioning", s.Versioning != ""},
		{lifecycle{c.server.s3}, "lifecycle", s.LifecycleRules != nil},
		{c.owners.tags, "tags", s.Tags != nil},
		{policy{c.server.s3}, "policy", s.Policy != ""},
		{c.uploads, "uploads", s.AbortUploadsAfterDays > 0},
	}
}

// aspects returns the aspects that the spec sets: no others are requested.
func (c *Client) aspects(s Spec) []namedAspect {
	return slices.DeleteFunc(c.all(s), func(a namedAspect) bool { return !a.asked })
}
