package kinds

import (
	"context"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/external/tokenset"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/connection"
)

func tokenSets() adapter.Any {
	return adapter.Kind[*v1alpha1.TokenSet, tokenset.Spec, tokenset.Status]{
		Name:   v1alpha1.KindTokenSet,
		Fields: func(m *v1alpha1.TokenSet) (any, any) { return &m.Spec.ForProvider, &m.Status.AtProvider },
		Open: func(ctx context.Context, c *connection.Set) (external.Client[tokenset.Spec, tokenset.Status], error) {
			b, _, err := c.NATS(ctx)
			return tokenset.New(b), err
		},
		Complete: func(ctx context.Context, c *connection.Set, m *v1alpha1.TokenSet, s *tokenset.Spec) error {
			if s.Namespace == "" {
				s.Namespace = m.Namespace
			}
			s.Owner = owner(v1alpha1.KindTokenSet, m.Namespace, m.Name)
			if m.DeletionTimestamp != nil {
				return nil // all of them go
			}
			secrets, err := c.Labelled(ctx)
			for _, secret := range secrets {
				if token.Truthy(secret.Labels[v1.LabelToken]) {
					s.Secrets = append(s.Secrets, token.Secret{Name: secret.Name, Data: secret.Data, Annotations: secret.Annotations})
				}
			}
			return err
		},
	}
}
