package kinds

import (
	"context"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/connection"
)

func keyValues() adapter.Any {
	return adapter.Kind[*v1alpha1.KeyValue, keyvalue.Spec, keyvalue.Status]{
		Name:   v1alpha1.KindKeyValue,
		Fields: func(m *v1alpha1.KeyValue) (any, any) { return &m.Spec.ForProvider, &m.Status.AtProvider },
		Open: func(ctx context.Context, c *connection.Set) (external.Client[keyvalue.Spec, keyvalue.Status], error) {
			b, env, err := c.NATS(ctx)
			return keyvalue.New(b, env), err
		},
		ExternalName: func(s keyvalue.Spec) string { return s.Bucket },
		Keeps:        true,
		Watch: func(ctx context.Context, l *connection.Line, s keyvalue.Spec, changed func()) error {
			return follow(ctx, l, advisories, last, changed, bucketStream(s.Bucket))
		},
	}
}

// bucketStream is the stream below a key-value bucket.
func bucketStream(bucket string) string { return "KV_" + bucket }
