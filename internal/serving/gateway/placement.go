package gateway

import (
	"context"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// A placement says where a request goes.
type placement struct {
	session      string
	conversation string // the dispatcher prefers the runner that holds its cache
}

// place chooses the pool for a request. Only callers with a token get a pool of
// their own, as long as there is a slot for it; all others share the model's.
// So no header of an anonymous client starts pods. No pool can be created for an
// alias, so its members serve all callers.
func (g *Gateway) place(ctx context.Context, who caller, explicit string, model registry.Model, opening []openai.Message) placement {
	p := placement{
		session:      names.Session(model.Namespace, model.Name, ""),
		conversation: g.conversation(who.tenant, explicit, opening),
	}
	key := ""
	switch g.cfg.Isolation {
	case IsolateToken:
		key = who.tenant
	case IsolateConversation:
		key = p.conversation
	case IsolateModel:
	}
	if key == "" || who.token == nil || model.Alias {
		return p
	}
	if own := names.Session(model.Namespace, model.Name, key); g.slots.Hold(ctx, model.Namespace, own) {
		p.session = own
	}
	return p
}

// conversation names the conversation of a request, with the gateway's key.
func (g *Gateway) conversation(tenant, explicit string, messages []openai.Message) string {
	return openai.Conversation(g.cfg.HashKey, tenant, explicit, messages)
}
