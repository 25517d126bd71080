package gateway

import (
	"net/http"

	"github.com/gorizond/koldun/internal/network/httpserver"
)

// Handler returns the API.
func (g *Gateway) Handler() http.Handler { return &handler{g: g, router: newRouter(g.endpoints())} }

// endpoints returns the API. Routes, allowed methods, labels of metrics and the
// text of the 404 follow from it.
func (g *Gateway) endpoints() []endpoint {
	return []endpoint{
		{label: "chat", method: http.MethodPost, path: "/v1/chat/completions", handle: g.handleGenerate(always(chatOperation()))},
		{label: "completion", method: http.MethodPost, path: "/v1/completions", handle: g.handleGenerate(always(completionOperation()))},
		{label: "embedding", method: http.MethodPost, path: "/v1/embeddings", handle: g.handleGenerate(always(embeddingOperation()))},
		g.responses(g.stored),
		{label: "response", method: http.MethodGet, path: responsesPath, handle: g.handleSocket, shape: responseError},
		{label: "response", method: http.MethodGet, path: responsesPath + "/{id}", handle: g.handleResponse, shape: responseError},
		{label: "response", method: http.MethodDelete, path: responsesPath + "/{id}", handle: g.handleDeleteResponse, shape: responseError},
		{label: "compaction", method: http.MethodPost, path: responsesPath + "/compact", handle: g.handleGenerate(g.compaction), shape: responseError},
		unserved(http.MethodPost, "/input_tokens",
			"'input_tokens' is not supported here: engines have no operation that only counts. The usage of a response says the same."),
		unserved(http.MethodGet, "/{id}/input_items", "'input_items' is not supported here: the items of an input are not given back."),
		unserved(http.MethodPost, "/{id}/cancel",
			"'cancel' is not supported here: responses in the background are not, and others end when their client leaves."),
		g.messages(),
		countTokens(),
		{label: "models", method: http.MethodGet, path: "/v1/models", handle: g.handleModels},
		{label: "model", method: http.MethodGet, path: modelPath + "{id...}", handle: g.handleModel},
		{label: "health", method: http.MethodGet, path: "/healthz", handle: answerWith(httpserver.Health(nil)), open: true},
		{label: "health", method: http.MethodGet, path: "/readyz", handle: answerWith(httpserver.Checks(g.checks()...)), open: true},
	}
}
