package gateway

import (
	"net/http"
	"slices"
	"sort"
	"strings"

	"github.com/gorizond/koldun/internal/bytesize"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/openai/messages"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// handleModels lists the models that the caller may use.
func (g *Gateway) handleModels(w http.ResponseWriter, r *http.Request, in incoming) (task, *refusal) {
	list := openai.ModelList{Object: "list", Data: []openai.Model{}}
	for _, m := range g.models.All() {
		if g.cfg.serves(m.Namespace) && in.caller.may(m.ID()) {
			list.Data = append(list.Data, g.wireModel(m))
		}
	}
	sort.Slice(list.Data, func(i, j int) bool { return list.Data[i].ID < list.Data[j].ID })
	if !ofMessages(r) {
		writeJSON(w, http.StatusOK, list)
		return nil, nil
	}
	page, err := messages.NewModelList(list.Data, r.URL.Query())
	if err != nil {
		return nil, &refusal{Error: *err}
	}
	writeJSON(w, http.StatusOK, page)
	return nil, nil
}

// handleModel shows one model. Without an id it lists all.
func (g *Gateway) handleModel(w http.ResponseWriter, r *http.Request, in incoming) (task, *refusal) {
	id := strings.TrimPrefix(r.URL.Path, modelPath)
	if id == "" {
		return g.handleModels(w, r, in)
	}
	m, refused := g.resolve(in.caller, id)
	switch {
	case refused != nil:
	case ofMessages(r):
		writeJSON(w, http.StatusOK, messages.NewModel(g.wireModel(m)))
	default:
		writeJSON(w, http.StatusOK, g.wireModel(m))
	}
	return nil, refused
}

// ofMessages reports whether the client of a path that several APIs have speaks Anthropic's.
func ofMessages(r *http.Request) bool { return r.Header.Get(messages.HeaderVersion) != "" }

// wireModel describes a model, with what its runners offer.
func (g *Gateway) wireModel(m registry.Model) openai.Model {
	out := openai.Model{
		ID: m.ID(), Object: "model", Created: max(m.Created.Unix(), 0), OwnedBy: "koldun",
		Name: m.Name, Namespace: m.Namespace,
	}
	if m.Size > 0 {
		out.SizeBytes, out.SizeHuman = m.Size, bytesize.Format(m.Size)
	}
	if m.Shape != nil {
		out.ContextLength = m.Shape.SeqLen
	}
	out.Operations, out.Features = g.runners.Offers(m.ID())
	if slices.ContainsFunc(out.Operations, hasChoices) {
		out.Features = openai.NewFeatures(append(out.Features, string(openai.FeatureChoices))...).Names()
	}
	return out
}

// hasChoices reports whether the gateway gives several answers to one request.
func hasChoices(op openai.Operation) bool {
	return op == openai.OperationChat || op == openai.OperationCompletion
}

// modelPath precedes the id of a model.
const modelPath = "/v1/models/"
