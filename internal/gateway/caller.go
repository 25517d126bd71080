package gateway

import (
	"github.com/gorizond/koldun/internal/queue"
	"github.com/gorizond/koldun/internal/registry"
)

// anonymous is the tenant of callers without a token.
const anonymous = "anonymous"

// A caller is the client of a request.
type caller struct {
	tenant string
	token  *registry.Token // nil: anonymous
}

// may reports whether the caller may use the model "namespace/name".
func (c caller) may(id string) bool { return c.token == nil || c.token.Allows(id) }

// limits returns the limits of the token, and those of the gateway where the
// token has none.
func (c caller) limits(gateway registry.Limits) registry.Limits {
	if c.token == nil {
		return gateway
	}
	return c.token.Limits.Or(gateway)
}

// priority returns the priority of a request: what its header asks for, up to
// what the token allows.
func (c caller) priority(header string) (queue.Priority, *refusal) {
	wanted, ok := queue.ParsePriority(header)
	if !ok {
		return "", errNoPriority()
	}
	most := queue.PriorityNormal
	if c.token != nil {
		most, _ = queue.ParsePriority(c.token.Metadata[queue.MetadataPriority])
	}
	return wanted.AtMost(most), nil
}
