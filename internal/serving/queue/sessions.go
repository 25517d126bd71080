package queue

import (
	"context"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// sessionsEvery is the poll interval of Sessions.
const sessionsEvery = 500 * time.Millisecond

// Sessions calls handle with the number of requests of each session in the
// stream, now and then twice a second, until ctx ends; it returns only then.
// handle may keep the map. Sessions does not call handle while the stream's leader
// is unreachable.
//
// It polls instead of subscribing, which would cost a delivery of each request to
// every caller. The delay does not matter: sessions with runners or a leader are
// known by those.
func (s requests) Sessions(ctx context.Context, handle func(open map[string]int)) {
	tick := time.NewTicker(sessionsEvery)
	defer tick.Stop()
	for {
		open, err := s.sessions(ctx)
		switch {
		case err == nil:
			handle(open)
		case ctx.Err() == nil:
			s.streams.bus.Logger().Debug("cannot tell which sessions have requests", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s requests) sessions(ctx context.Context) (map[string]int, error) {
	subjects, err := s.requestSubjects(ctx, names.RequestSubjects)
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

// requestSubjects returns the number of messages of each subject of the request
// stream that matches the filter, by the stream's leader.
func (s requests) requestSubjects(ctx context.Context, filter string) (map[string]uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	stream, err := s.streams.bus.Stream(ctx, names.RequestStream)
	if err != nil {
		return nil, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(filter))
	if err != nil {
		return nil, fault.As(fault.KindOf(bus.Kinded(err)), err)
	}
	return info.State.Subjects, nil
}
