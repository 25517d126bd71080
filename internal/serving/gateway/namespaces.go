package gateway

import (
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// serves reports whether the gateway serves the models of a namespace.
func (c *Config) serves(namespace string) bool {
	return namespace == c.Namespace || slices.Contains(c.Namespaces, namespace)
}

// accepts reports whether the gateway accepts a token: one that comes from a
// namespace that it serves, or one that the platform has registered for all
// namespaces. Tenants cannot register such a token: the provider writes the
// namespace of the Token or TokenSet into each record.
func (c *Config) accepts(t registry.Token) bool {
	return t.Namespace == "" || c.serves(t.Namespace)
}

// resolve finds the model that a client names: "namespace/name", or a name in
// the gateway's own namespace. A caller who may not use a model does not learn
// whether it exists, and no caller learns of the namespaces that the gateway
// does not serve.
func (g *Gateway) resolve(who caller, id string) (registry.Model, *refusal) {
	namespace, name, full := strings.Cut(id, "/")
	if !full {
		namespace, name = g.cfg.Namespace, id
	}
	if !who.may(namespace + "/" + name) {
		return registry.Model{}, errNotAllowed(shown(id))
	}
	m, ok := g.models.Get(names.ModelKey(namespace, name))
	if !ok || !g.cfg.serves(m.Namespace) {
		return registry.Model{}, errNoModel(shown(id))
	}
	return m, nil
}
