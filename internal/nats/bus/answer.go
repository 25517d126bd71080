package bus

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// answerAge is the time after which WatchAnswer asks again.
	answerAge = 15 * time.Second
	// answerLag is the same after news, because who answers may hear them later.
	answerLag = time.Second
)

// WatchAnswer follows what another process answers on a subject, for users that may not read
// what it knows: it asks at once, after each message on the subject news, after a loss of the
// connection, and every answerAge. It calls handle with each answer from one goroutine, and
// returns when ctx ends.
func WatchAnswer[A any](ctx context.Context, b *Bus, subject, news string, handle func(A)) {
	heard := make(chan *nats.Msg, 1) // more than one are no news
	if sub, err := b.nc.ChanSubscribe(news, heard); err == nil {
		defer func() { _ = sub.Unsubscribe() }()
	}
	pause := answerAge
	for attempt := 0; ; {
		reconnected := b.Reconnected()
		if answer, err := callWithin[A](ctx, b, subject); err != nil {
			b.log.Debug("no answer yet", "subject", subject, "error", err)
			pause = Backoff(attempt)
			attempt++
		} else {
			attempt = 0
			handle(answer)
		}
		select {
		case <-ctx.Done():
			return
		case <-reconnected:
			pause = answerAge
		case <-heard:
			pause = answerLag
		case <-time.After(pause):
			pause = answerAge
		}
	}
}

func callWithin[A any](ctx context.Context, b *Bus, subject string) (A, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	return Call[A](ctx, b, subject, struct{}{})
}
