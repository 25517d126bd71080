package gateway

import (
	"context"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/registry"
)

// An Isolation says what a pool of runners is shared by.
type Isolation string

// The kinds of isolation.
const (
	IsolateModel        Isolation = "model"        // all requests for a model
	IsolateToken        Isolation = "token"        // those with one API token
	IsolateConversation Isolation = "conversation" // those of one conversation
)

// ParseIsolation reads the word of a flag. "" is IsolateModel.
func ParseIsolation(word string) (Isolation, error) {
	switch i := Isolation(word); i {
	case "":
		return IsolateModel, nil
	case IsolateModel, IsolateToken, IsolateConversation:
		return i, nil
	}
	return "", fault.Errorf(fault.Invalid, "cannot isolate by %q: it is none of model, token, conversation", word)
}

// A whereabouts says where a request goes.
type whereabouts struct {
	session      string
	conversation string // for the runner that may hold its beginning
}

// place chooses the pool for a request. A pool of its own is only for callers
// with a token, as long as there is a slot for it; all others share the
// model's: no header that a stranger sends makes pods.
func (g *Gateway) place(ctx context.Context, who caller, explicit string, model registry.Model, messages []openai.Message) whereabouts {
	w := whereabouts{
		session:      names.Session(model.Namespace, model.Name, ""),
		conversation: g.conversation(who.tenant, explicit, messages),
	}
	key := ""
	switch g.cfg.Isolation {
	case IsolateToken:
		key = who.tenant
	case IsolateConversation:
		key = w.conversation
	case IsolateModel:
	}
	if key == "" || who.token == nil {
		return w
	}
	if own := names.Session(model.Namespace, model.Name, key); g.slots.hold(ctx, model.Namespace, own) {
		w.session = own
	}
	return w
}
