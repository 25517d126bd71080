package gateway

import (
	"net/http"
	"sort"
	"strings"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/registry"
)

// handleModels is GET /v1/models: the models that the caller may ask.
func (g *Gateway) handleModels(w http.ResponseWriter, r *http.Request) {
	who := callOf(r).caller
	list := openai.ModelList{Object: "list", Data: []openai.Model{}}
	for _, m := range g.models.All() {
		if who.may(m.ID()) {
			list.Data = append(list.Data, wireModel(m))
		}
	}
	sort.Slice(list.Data, func(i, j int) bool { return list.Data[i].ID < list.Data[j].ID })
	writeJSON(w, http.StatusOK, list)
}

// handleModel is GET /v1/models/{id}.
func (g *Gateway) handleModel(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if id == "" {
		g.handleModels(w, r)
		return
	}
	m, err := g.resolve(callOf(r).caller, id)
	if err != nil {
		refuse(w, err)
		return
	}
	writeJSON(w, http.StatusOK, wireModel(m))
}

// resolve finds the model that a client names: "namespace/name", or a name in
// the gateway's own namespace. Who may not use a model does not learn either
// whether it exists.
func (g *Gateway) resolve(who caller, id string) (registry.Model, *refusal) {
	namespace, name, full := strings.Cut(id, "/")
	if !full {
		namespace, name = g.cfg.Namespace, id
	}
	if !who.may(namespace + "/" + name) {
		return registry.Model{}, errNotAllowed(shown(id))
	}
	m, ok := g.models.Get(names.ModelKey(namespace, name))
	if !ok {
		return registry.Model{}, errNoModel(shown(id))
	}
	return m, nil
}

// shown cuts what a client sent to a length fit for an error message.
func shown(s string) string {
	const most = 200
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func wireModel(m registry.Model) openai.Model {
	return openai.Model{ID: m.ID(), Object: "model", Created: max(m.Created.Unix(), 0), OwnedBy: "koldun"}
}
