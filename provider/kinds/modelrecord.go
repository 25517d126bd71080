package kinds

import (
	"context"
	"strings"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/modelrecord"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/registry"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/connection"
)

func modelRecords() adapter.Any {
	return adapter.Kind[*v1alpha1.ModelRecord, modelrecord.Spec, modelrecord.Status]{
		Name:   v1alpha1.KindModelRecord,
		Fields: func(m *v1alpha1.ModelRecord) (any, any) { return &m.Spec.ForProvider, &m.Status.AtProvider },
		Open: func(ctx context.Context, c *connection.Set) (external.Client[modelrecord.Spec, modelrecord.Status], error) {
			b, _, err := c.NATS(ctx)
			if err != nil {
				return nil, err
			}
			return modelrecord.New(c.Store, registry.Models(b)), nil
		},
		ExternalName: func(s modelrecord.Spec) string { return names.ModelKey(s.Namespace, s.Name) },
		Watch: func(ctx context.Context, l *connection.Line, s modelrecord.Spec, changed func()) error {
			key := names.ModelKey(s.Namespace, s.Name)
			return follow(ctx, l, writes(names.ModelsBucket), keyOf(names.ModelsBucket), changed, key)
		},
	}
}

// writes are the subjects of a key-value bucket: whoever writes a key publishes
// there.
func writes(bucket string) string { return "$KV." + bucket + ".>" }

// keyOf gives the key that a subject of the bucket is of.
func keyOf(bucket string) func(subject string) string {
	prefix := "$KV." + bucket + "."
	return func(subject string) string { return strings.TrimPrefix(subject, prefix) }
}
