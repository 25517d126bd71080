package api

import (
	"net/http"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// An endpoint is one entry of the API.
type endpoint struct {
	method     string
	path       string
	operations []openai.Operation // that it serves
	handle     http.HandlerFunc
}

// endpoints returns the API. Routes, allowed methods, the text of the 404 and
// the operations that the engine lists follow from it.
func (h *Handler) endpoints() []endpoint {
	return []endpoint{
		{http.MethodPost, "/v1/chat/completions", []openai.Operation{openai.OperationChat, openai.OperationCompletion}, h.complete},
		{http.MethodPost, "/v1/embeddings", []openai.Operation{openai.OperationEmbedding}, h.embed},
		{http.MethodGet, "/v1/models", nil, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, h.models) }},
	}
}

// route adds the endpoints to the mux.
func (h *Handler) route(endpoints []endpoint) {
	var shown []string
	var operations []string
	for _, e := range endpoints {
		h.mux.HandleFunc(e.method+" "+e.path, e.handle)
		h.mux.HandleFunc(e.path, onlyMethod(e.method))
		shown = append(shown, e.method+" "+e.path)
		for _, op := range e.operations {
			operations = append(operations, string(op))
		}
	}
	h.mux.HandleFunc("/", notFound(strings.Join(shown, ", ")))
	h.operations = strings.Join(operations, ", ")
}
