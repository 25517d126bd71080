package gateway

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// handleResponse answers with a stored response.
func (g *Gateway) handleResponse(w http.ResponseWriter, r *http.Request, in incoming) (task, *refusal) {
	id := strings.TrimPrefix(r.URL.Path, responsesPath+"/")
	record, err := g.stored.Get(r.Context(), in.caller.tenant, id)
	if err != nil {
		return nil, asRefusal(err)
	}
	if record == nil {
		return nil, errNoResponse(id)
	}
	writeJSON(w, http.StatusOK, record.Response)
	return nil, nil
}

// handleDeleteResponse deletes a stored response.
func (g *Gateway) handleDeleteResponse(w http.ResponseWriter, r *http.Request, in incoming) (task, *refusal) {
	id := strings.TrimPrefix(r.URL.Path, responsesPath+"/")
	found, err := g.stored.Remove(r.Context(), in.caller.tenant, id)
	if err != nil {
		return nil, asRefusal(err)
	}
	if !found {
		return nil, errNoResponse(id)
	}
	writeJSON(w, http.StatusOK, map[string]any{"id": id, "object": "response", "deleted": true})
	return nil, nil
}

func asRefusal(err error) *refusal {
	var e *openai.Error
	if errors.As(err, &e) {
		return &refusal{Error: *e}
	}
	return errInternal()
}

func errNoResponse(id string) *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusNotFound, Type: openai.InvalidRequest, Param: "id", Code: "response_not_found",
		Message: "The response '" + shown(id) + "' is not stored here: it never was, or it has expired.",
	}}
}
