package kinds

import (
	"context"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/pool"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/connection"
)

func pools() adapter.Any {
	parent := pool.Dllamas()
	return adapter.Kind[*v1alpha1.Pool, pool.Spec, pool.Status]{
		Name:       v1alpha1.KindPool,
		Fields:     func(m *v1alpha1.Pool) (any, any) { return &m.Spec.ForProvider, &m.Status.AtProvider },
		Dependents: &parent,
		Open: func(ctx context.Context, c *connection.Set) (external.Client[pool.Spec, pool.Status], error) {
			return connection.Shared(ctx, c, v1alpha1.KindPool, pool.New)
		},
		Complete: func(_ context.Context, _ *connection.Set, m *v1alpha1.Pool, s *pool.Spec) error {
			s.ID = string(m.UID)
			return adapter.Convert(m.Status.AtProvider, &s.Known)
		},
	}
}
