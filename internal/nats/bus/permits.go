package bus

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
)

// streamAPI is the prefix of the subjects of requests about streams.
const streamAPI = "$JS.API.STREAM."

// permits holds the requests that wait for an answer, by their subjects. A server does not
// answer a request for which the user lacks the right: it reports an error of the connection
// that names the subject.
type permits struct {
	mu   sync.Mutex
	open map[string]map[*permit]bool
}

type permit struct{ refuse context.CancelCauseFunc }

// permitted returns the result of request, which publishes on a subject and waits for the
// answer. When the server reports that the user may not publish there, permitted cancels the
// context of request, and returns that error, which wraps nats.ErrPermissionViolation.
func permitted[T any](ctx context.Context, p *permits, subject string, request func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	one := &permit{cancel}
	p.add(subject, one)
	defer p.remove(subject, one)
	out, err := request(ctx)
	if why := context.Cause(ctx); err != nil && errors.Is(why, nats.ErrPermissionViolation) {
		err = why
	}
	return out, err
}

func (p *permits) add(subject string, one *permit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[string]map[*permit]bool{}
	}
	if p.open[subject] == nil {
		p.open[subject] = map[*permit]bool{}
	}
	p.open[subject][one] = true
}

func (p *permits) remove(subject string, one *permit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if delete(p.open[subject], one); len(p.open[subject]) == 0 {
		delete(p.open, subject)
	}
}

// reported takes an error of the connection, and ends the requests that it is about.
func (p *permits) reported(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	_, rest, _ := strings.Cut(err.Error(), `Publish to "`)
	subject, _, _ := strings.Cut(rest, `"`)
	p.mu.Lock()
	defer p.mu.Unlock()
	for one := range p.open[subject] {
		one.refuse(err)
	}
}
