package kinds

import (
	"context"

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
		Keeps:        true,
		Watch: func(ctx context.Context, l *connection.Line, s stream.Spec, changed func()) error {
			return follow(ctx, l, advisories, last, changed, s.Name)
		},
	}
}
