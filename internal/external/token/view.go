package token

import (
	"context"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/registry"
)

var _ external.Viewer[Spec] = (*Client)(nil)

// View reads the entry of the token, or the newest entry of the owner if the spec
// has no hash, or one without an entry.
func (c *Client) View(ctx context.Context, s Spec, _ external.Scope) (Spec, error) {
	mine, _, err := s.records().List(ctx, c.bus)
	if err != nil {
		return Spec{}, err
	}
	t, ok := mine[s.SHA256]
	if !ok {
		if t, ok = newest(mine); !ok {
			return Spec{}, fault.Errorf(fault.NotFound, "cannot look up token %q: there is no entry of it", s.Owner)
		}
	}
	out := s
	out.SHA256, out.Namespace, out.Tenant, out.Disabled, out.Models, out.Metadata = t.SHA256, t.Namespace, t.Tenant, t.Disabled, t.Models, t.Metadata
	out.RequestsPerMinute, out.TokensPerMinute, out.ConcurrentRequests = t.Limits.RequestsPerMinute, t.Limits.TokensPerMinute, t.Limits.ConcurrentRequests
	out.Expires = nil
	if !t.Expires.IsZero() {
		out.Expires = &t.Expires
	}
	return out, nil
}

func newest(records map[string]registry.Token) (out registry.Token, ok bool) {
	for _, t := range records {
		if !ok || t.Created.After(out.Created) {
			out, ok = t, true
		}
	}
	return out, ok
}
