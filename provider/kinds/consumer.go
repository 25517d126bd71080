package kinds

import (
	"context"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/consumer"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/connection"
)

func consumers() adapter.Any {
	return adapter.Kind[*v1alpha1.Consumer, consumer.Spec, consumer.Status]{
		Name:   v1alpha1.KindConsumer,
		Fields: func(m *v1alpha1.Consumer) (any, any) { return &m.Spec.ForProvider, &m.Status.AtProvider },
		Open: func(ctx context.Context, c *connection.Set) (external.Client[consumer.Spec, consumer.Status], error) {
			b, env, err := c.NATS(ctx)
			return consumer.New(b, env), err
		},
		ExternalName: func(s consumer.Spec) string { return s.Name },
		Keeps:        true,
		Watch: func(ctx context.Context, l *connection.Line, s consumer.Spec, changed func()) error {
			return follow(ctx, l, consumerAdvisories, last, changed, s.Name)
		},
	}
}

// consumerAdvisories are the subjects on which a server tells of consumers that
// are created and deleted: kind, stream and consumer are the last three words.
const consumerAdvisories = "$JS.EVENT.ADVISORY.CONSUMER.*.*.*"
