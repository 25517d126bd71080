package gateway

import (
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/registry"
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

// limits returns the limits of the caller at a gateway. Those of a token that the
// platform has registered, for all namespaces, stand. The others come from Secrets of
// a namespace: they may lower the gateway's limits, and exceed them only if the
// gateway lets them.
func (c caller) limits(at *Config) registry.Limits {
	switch {
	case c.token == nil:
		return at.Limits
	case at.TokensMayExceed || c.token.Namespace == "":
		return c.token.Limits.Or(at.Limits)
	}
	return c.token.Limits.Within(at.Limits)
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

// An incoming is a request as handlers see it, beside net/http's view.
type incoming struct {
	id          string // see newID
	begun       time.Time
	traceparent string
	caller      caller
	body        *meter // of a request for text
}
