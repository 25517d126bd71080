package gateway

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/openai/responses"
	"github.com/gorizond/koldun/internal/telemetry"
)

// responses is the endpoint of the Responses API. Its requests are chats for
// everything behind the gateway.
func (g *Gateway) responses(kept responseStore) endpoint {
	return endpoint{
		label: "response", method: http.MethodPost, path: responsesPath, shape: responseError,
		handle: g.handleGenerate(func(in incoming) operation {
			r := &responding{kept: kept, in: in, id: newSecretID()}
			return operation{
				label: telemetry.OperationChat, reasoning: reasoningContent, decode: r.decode,
				stream: func(o openai.StreamOptions) chunks { return responses.NewStream(r.request, r.options(o.Model)) },
				whole: func(a answer) any {
					return responses.NewResponse(r.request, r.options(a.model), a.thoughts, a.text, &a.parts, a.finish, a.usage)
				},
			}
		}),
	}
}

const responsesPath = "/v1/responses"

// responseError gives an error the names that requests for responses have for their
// parameters.
func responseError(e *openai.Error) any { return responses.Rename(e) }

// compaction returns the operation that compacts one conversation: the model
// summarizes it.
func (g *Gateway) compaction(in incoming) operation {
	r := &responding{kept: g.stored, in: in, id: newSecretID()}
	return operation{
		label: telemetry.OperationChat, reasoning: reasoningContent,
		decode: func(ctx context.Context, body []byte) (openai.Request, error) {
			request, err := responses.ParseCompact(body)
			if err != nil {
				return openai.Request{}, err
			}
			items, err := r.resolve(ctx, request)
			if err != nil {
				return openai.Request{}, err
			}
			chat, err := request.Summarize(items)
			return chat.Request(openai.OperationChat), err
		},
		whole: func(a answer) any { return responses.NewCompaction(r.options(a.model), a.text, a.usage) },
	}
}

// responding is one request for a response.
type responding struct {
	kept    responseStore
	in      incoming
	id      string // of the response: logs and records have the request's
	request *responses.Request
	keep    func(*responses.Response) bool // see responses.Options
}

// decode reads a request together with what it refers to.
func (r *responding) decode(ctx context.Context, body []byte) (openai.Request, error) {
	request, err := responses.Parse(body)
	if err != nil {
		return openai.Request{}, err
	}
	items, err := r.resolve(ctx, request)
	if err != nil {
		return openai.Request{}, err
	}
	chat, err := request.Chat(items)
	if err != nil {
		return openai.Request{}, err
	}
	request.Store = request.Store && r.kept.Lasting()
	r.request, r.keep = request, func(response *responses.Response) bool {
		return r.kept.Keep(ctx, r.in.caller.tenant, items, response)
	}
	out := chat.Request(openai.OperationChat)
	out.Ignored = append(out.Ignored, request.Ignored()...)
	slices.Sort(out.Ignored)
	return out, nil
}

func (r *responding) options(model string) responses.Options {
	return responses.Options{ID: r.id, Model: model, Created: r.in.begun.Unix(), Now: time.Now, Keep: r.keep}
}

// resolve returns the whole input: what the previous response had, and the request's
// own items, with stored items in place of references.
func (r *responding) resolve(ctx context.Context, request *responses.Request) ([]responses.Item, error) {
	var items []responses.Item
	if request.PreviousID != "" {
		before, err := r.load(ctx, request.PreviousID)
		if err != nil {
			return nil, err
		}
		if before == nil {
			return nil, openai.BadRequest("previous_response_id", "previous_response_not_found",
				"The previous response '"+request.PreviousID+"' is not stored here: it never was, or it has expired.")
		}
		if items, err = before.Items(); err != nil {
			return nil, err
		}
	}
	own, err := r.resolveReferences(ctx, request.Input)
	return append(items, own...), err
}

// maxReferred is how many stored responses the references of one request may be looked up in.
const maxReferred = 32

// resolveReferences returns items with stored ones in place of references. The last
// response of a conversation has the items of those before, so it is read first, and
// usually alone.
func (r *responding) resolveReferences(ctx context.Context, items []responses.Item) ([]responses.Item, error) {
	out := slices.Clone(items)
	stored, looked := map[string]responses.Item{}, 0
	for i, item := range slices.Backward(items) {
		if item.Kind != responses.KindReference {
			continue
		}
		if _, known := stored[item.ID]; !known {
			if looked++; looked > maxReferred {
				return nil, errNoItem(item.ID)
			}
			if err := r.look(ctx, item.ID, stored); err != nil {
				return nil, err
			}
		}
		out[i] = stored[item.ID]
	}
	return out, nil
}

// load returns a stored response, nil if there is none. It has taken the memory for it,
// which the body of the request gives back.
func (r *responding) load(ctx context.Context, id string) (*responses.Record, error) {
	free, ok := r.in.body.expect()
	if !ok {
		return nil, &errBusy().Error
	}
	defer free()
	record, err := r.kept.Get(ctx, r.in.caller.tenant, id)
	if record == nil || err != nil {
		return nil, err
	}
	if !r.in.body.take(record.Size()) {
		return nil, &errBusy().Error
	}
	return record, nil
}

func errNoItem(id string) error {
	return openai.BadRequest("input", "item_not_found", "The item '"+id+"' is not stored here. Send the item itself, and 'store': false.")
}

// look adds a stored item, and the others of its response.
func (r *responding) look(ctx context.Context, id string, stored map[string]responses.Item) error {
	response, ok := responses.ResponseID(id)
	if !ok {
		return errNoItem(id)
	}
	before, err := r.load(ctx, response)
	if err != nil {
		return err
	}
	if before == nil {
		return errNoItem(id)
	}
	items, err := before.Items()
	if err != nil {
		return err
	}
	for _, item := range items {
		stored[item.ID] = item
	}
	if _, found := stored[id]; !found {
		return errNoItem(id)
	}
	return nil
}
