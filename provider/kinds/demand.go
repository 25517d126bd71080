package kinds

import (
	"context"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/demand"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/connection"
)

func demands() adapter.Any {
	parent := demand.Sessions()
	return adapter.Kind[*v1alpha1.Demand, demand.Spec, demand.Status]{
		Name:       v1alpha1.KindDemand,
		Fields:     func(m *v1alpha1.Demand) (any, any) { return &m.Spec.ForProvider, &m.Status.AtProvider },
		Dependents: &parent,
		Open: func(ctx context.Context, c *connection.Set) (external.Client[demand.Spec, demand.Status], error) {
			return connection.Shared(ctx, c, v1alpha1.KindDemand, demand.New)
		},
		Complete: func(_ context.Context, _ *connection.Set, m *v1alpha1.Demand, s *demand.Spec) error {
			for _, k := range m.Status.AtProvider.Sessions {
				s.Known = append(s.Known, demand.Session{Key: k.Key, Model: k.Model, Isolated: k.Isolated})
			}
			return nil
		},
	}
}
