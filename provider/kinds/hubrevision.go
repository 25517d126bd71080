package kinds

import (
	"context"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/hubrevision"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/connection"
)

func hubRevisions() adapter.Any {
	return adapter.Kind[*v1alpha1.HubRevision, hubrevision.Spec, hubrevision.Status]{
		Name:   v1alpha1.KindHubRevision,
		Fields: func(m *v1alpha1.HubRevision) (any, any) { return &m.Spec.ForProvider, &m.Status.AtProvider },
		Open: func(ctx context.Context, c *connection.Set) (external.Client[hubrevision.Spec, hubrevision.Status], error) {
			return hubrevision.New(func(endpoint, token string) (hubrevision.Hub, error) {
				client, err := c.Hub(ctx, endpoint, token)
				if err != nil {
					return nil, err
				}
				return client, nil
			}), nil
		},
		Complete: revision,
	}
}

// revision adds the token, and the commit that was resolved before for the
// same repository and revision.
func revision(ctx context.Context, c *connection.Set, m *v1alpha1.HubRevision, s *hubrevision.Spec) error {
	if seen := m.Status.AtProvider; seen.Source == s.Source && seen.Revision == s.Revision {
		s.Commit = seen.Commit
	}
	ref := m.Spec.ForProvider.TokenSecretRef
	if ref == nil {
		return nil
	}
	secret, err := c.Secret(ctx, ref.Name)
	if err != nil {
		return err
	}
	s.Token = string(secret.Data["token"])
	if s.Token == "" {
		return fault.Errorf(fault.Invalid, "cannot use Secret %q: it has no key \"token\"", ref.Name)
	}
	return nil
}
