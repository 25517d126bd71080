package queue

import (
	"context"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// sessionsEvery is how often Sessions looks.
const sessionsEvery = 500 * time.Millisecond

// Sessions tells handle how many requests of each session are in the stream,
// now and from then on twice a second, until ctx ends; it returns only then.
// handle may keep the map. Nothing is told while the stream's leader cannot be
// asked.
//
// It asks, rather than being told of each request, because that costs every
// request a delivery to everybody who calls this, and nobody needs it sooner: a
// session that has runners or a leader is known by those.
func (q *Queue) Sessions(ctx context.Context, handle func(open map[string]int)) {
	tick := time.NewTicker(sessionsEvery)
	defer tick.Stop()
	for {
		open, err := q.sessions(ctx)
		switch {
		case err == nil:
			handle(open)
		case ctx.Err() == nil:
			q.log.Debug("cannot tell which sessions have requests", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (q *Queue) sessions(ctx context.Context) (map[string]int, error) {
	subjects, err := q.requestSubjects(ctx, names.RequestSubjects)
	if err != nil {
		return nil, err
	}
	open := map[string]int{}
	prefix := strings.TrimSuffix(names.RequestSubjects, ">")
	for subject, n := range subjects {
		if session, _, ok := strings.Cut(strings.TrimPrefix(subject, prefix), "."); ok {
			open[session] += int(n)
		}
	}
	return open, nil
}

// requestSubjects counts the messages of each subject of the request stream that
// the filter matches, as the stream's leader knows them.
func (q *Queue) requestSubjects(ctx context.Context, filter string) (map[string]uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	stream, err := q.bus.Stream(ctx, names.RequestStream)
	if err != nil {
		return nil, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(filter))
	if err != nil {
		return nil, fault.As(fault.KindOf(bus.Kinded(err)), err)
	}
	return info.State.Subjects, nil
}
