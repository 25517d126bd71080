package kinds

import (
	"context"

	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/nodes"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/connection"
)

func nodeLabelRules(of typedcorev1.NodeInterface) adapter.Any {
	client := nodes.New(of)
	return adapter.Kind[*v1alpha1.NodeLabelRule, nodes.Spec, nodes.Status]{
		Name:   v1alpha1.KindNodeLabelRule,
		Fields: func(m *v1alpha1.NodeLabelRule) (any, any) { return &m.Spec.ForProvider, &m.Status.AtProvider },
		Here:   true,
		Open: func(context.Context, *connection.Set) (external.Client[nodes.Spec, nodes.Status], error) {
			return client, nil
		},
		Complete: func(_ context.Context, _ *connection.Set, m *v1alpha1.NodeLabelRule, s *nodes.Spec) error {
			s.Owner = owner(v1alpha1.KindNodeLabelRule, "", m.Name)
			return nil
		},
	}
}
