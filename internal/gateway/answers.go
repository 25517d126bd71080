package gateway

import (
	"context"

	"github.com/gorizond/koldun/internal/openai/responses"
)

// answers are responses that later requests may refer to.
type answers interface {
	// get returns a response of the tenant, nil if there is none. Its errors are
	// *openai.Error.
	get(ctx context.Context, tenant, id string) (*responses.Record, error)
	// keeper returns what keeps the response to a request with the given input, nil
	// if it is not kept.
	keeper(ctx context.Context, tenant string, r *responses.Request, input []responses.Item) func(*responses.Response) bool
}

// noAnswers keeps nothing.
type noAnswers struct{}

func (noAnswers) get(context.Context, string, string) (*responses.Record, error) { return nil, nil }

func (noAnswers) keeper(context.Context, string, *responses.Request, []responses.Item) func(*responses.Response) bool {
	return nil
}
