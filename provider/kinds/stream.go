package kinds

import (
	"context"
	"strings"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/connection"
)

func streams() adapter.Any {
	return adapter.Kind[*v1alpha1.Stream, stream.Spec, stream.Status]{
		Name:   v1alpha1.KindStream,
		Fields: func(m *v1alpha1.Stream) (any, any) { return &m.Spec.ForProvider, &m.Status.AtProvider },
		Open: func(ctx context.Context, c *connection.Set) (external.Client[stream.Spec, stream.Status], error) {
			b, env, err := c.NATS(ctx)
			return stream.New(b, env), err
		},
		ExternalName: func(s stream.Spec) string { return s.Name },
		Watch: func(ctx context.Context, l *connection.Line, s stream.Spec, changed func()) error {
			return follow(ctx, l, advisories, last, changed, s.Name)
		},
	}
}

// advisories are the subjects on which a server tells of streams that are
// created, updated and deleted. The last word is the stream (docs.nats.io,
// "JetStream advisories").
const advisories = "$JS.EVENT.ADVISORY.STREAM.*.*"

// last word of a subject.
func last(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }

// follow calls changed at once, for what came between the last look and now, and
// whenever something passes on a subject for which topic
// returns one of the given ones, until ctx ends.
func follow(ctx context.Context, l *connection.Line, subject string, topic func(string) string, changed func(), of ...string) error {
	news, stop, err := l.Follow(ctx, subject, topic, of...)
	if err != nil {
		return err
	}
	defer stop()
	changed()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-news:
			changed()
		}
	}
}
