package bucket

import (
	"context"

	"github.com/gorizond/koldun/internal/external"
)

var _ external.Viewer[Spec] = (*Client)(nil)

// View has nothing to read: what the spec says beside the name is for Delete.
func (c *Client) View(_ context.Context, s Spec) (Spec, error) { return s, nil }
