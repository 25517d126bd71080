package gateway

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/gorizond/koldun/internal/names"
)

// parsing bounds how many bytes of bodies are read and written for the queue at the same
// time: for that moment each takes openai.Parsed times its size. Small ones never wait for
// large ones.
type parsing struct{ small, large *semaphore.Weighted }

// The bytes that are parsed at the same time.
const (
	smallBody    = 64 << 10
	parsingSmall = names.ParsedBytes - names.RequestMaxSize
	parsingLarge = names.RequestMaxSize
)

func newParsing() *parsing {
	return &parsing{small: semaphore.NewWeighted(parsingSmall), large: semaphore.NewWeighted(parsingLarge)}
}

// begin waits for the turn of a body of so many bytes, or until ctx ends.
func (p *parsing) begin(ctx context.Context, n int64) (end func(), err error) {
	gate := p.large
	if n <= smallBody {
		gate = p.small
	}
	n = min(n, parsingLarge)
	if err := gate.Acquire(ctx, n); err != nil {
		return nil, err
	}
	return func() { gate.Release(n) }, nil
}
