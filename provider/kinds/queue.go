package kinds

import (
	"context"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/internal/external/queue"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/connection"
)

func queues() adapter.Any {
	return adapter.Kind[*v1alpha1.Queue, queue.Spec, queue.Status]{
		Name:   v1alpha1.KindQueue,
		Fields: func(m *v1alpha1.Queue) (any, any) { return &m.Spec.ForProvider, &m.Status.AtProvider },
		Open: func(ctx context.Context, c *connection.Set) (external.Client[queue.Spec, queue.Status], error) {
			b, env, err := c.NATS(ctx)
			return queue.New(stream.New(b, nil), keyvalue.New(b, nil), env), err
		},
		Keeps: true,
		Watch: func(ctx context.Context, l *connection.Line, s queue.Spec, changed func()) error {
			var parts []string
			for _, p := range s.Streams {
				parts = append(parts, p.Name)
			}
			for _, p := range s.KeyValues {
				parts = append(parts, bucketStream(p.Bucket))
			}
			return follow(ctx, l, advisories, last, changed, parts...)
		},
	}
}
