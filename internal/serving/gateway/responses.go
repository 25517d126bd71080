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
	for _, item := range request.Input {
		if item.Kind == responses.KindReference {
			var err error
			if item, err = r.referred(ctx, item.ID); err != nil {
				return nil, err
			}
		}
		items = append(items, item)
	}
	return items, nil
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
	if !r.in.body.hold(record.Size()) {
		return nil, &errBusy().Error
	}
	return record, nil
}

// referred returns a stored item.
func (r *responding) referred(ctx context.Context, id string) (responses.Item, error) {
	none := openai.BadRequest("input", "item_not_found", "The item '"+id+"' is not stored here. Send the item itself, and 'store': false.")
	response, ok := responses.ResponseID(id)
	if !ok {
		return responses.Item{}, none
	}
	before, err := r.load(ctx, response)
	if err != nil {
		return responses.Item{}, err
	}
	if before == nil {
		return responses.Item{}, none
	}
	items, err := before.Items()
	if err != nil {
		return responses.Item{}, err
	}
	for _, item := range items {
		if item.ID == id {
			return item, nil
		}
	}
	return responses.Item{}, none
}
