package gateway

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// handleResponse answers with a stored response.
func (g *Gateway) handleResponse(w http.ResponseWriter, r *http.Request, in incoming) (task, *refusal) {
	if refused := refuseQuery(w, r); refused != nil {
		return nil, refused
	}
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

// refuseQuery refuses to answer with the events of a stored response, which are not stored,
// and lists what else a query asks for in vain.
func refuseQuery(w http.ResponseWriter, r *http.Request) *refusal {
	query := r.URL.Query()
	for _, stream := range query["stream"] {
		if stream != "false" && stream != "0" {
			return &refusal{Error: *openai.BadRequest("stream", openai.CodeUnsupported,
				"'stream' is not supported here: the events of a stored response are not stored")}
		}
	}
	query.Del("stream")
	var ignored []string
	for name := range query {
		ignored = append(ignored, strings.TrimSuffix(name, "[]"))
	}
	slices.Sort(ignored)
	setIgnored(w.Header(), slices.Compact(ignored))
	return nil
}

// unserved is an endpoint of responses that is refused by name, as its path would otherwise
// be taken for the id of a response.
func unserved(method, path, message string) endpoint {
	return endpoint{
		label: "response", method: method, path: responsesPath + path, shape: responseError,
		handle: func(http.ResponseWriter, *http.Request, incoming) (task, *refusal) {
			return nil, &refusal{Error: *openai.BadRequest("", "operation_not_supported", message)}
		},
	}
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
