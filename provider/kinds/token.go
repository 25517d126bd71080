package kinds

import (
	"context"
	"fmt"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/adapter"
	"github.com/gorizond/koldun/provider/connection"
)

func tokens() adapter.Any {
	return adapter.Kind[*v1alpha1.Token, token.Spec, token.Status]{
		Name:   v1alpha1.KindToken,
		Fields: func(m *v1alpha1.Token) (any, any) { return &m.Spec.ForProvider, &m.Status.AtProvider },
		Open: func(ctx context.Context, c *connection.Set) (external.Client[token.Spec, token.Status], error) {
			return connection.Shared(ctx, c, v1alpha1.KindToken, token.New)
		},
		Complete: tokenSecret,
	}
}

// tokenSecret adds the Secret that is referred to, or the generated token that
// was handed out.
func tokenSecret(ctx context.Context, c *connection.Set, m *v1alpha1.Token, s *token.Spec) error {
	if s.Namespace == "" {
		s.Namespace = m.Namespace
	}
	s.Owner = owner(v1alpha1.KindToken, m.Namespace, m.Name)
	if ref := m.Spec.ForProvider.SecretRef; ref != nil {
		secret, err := c.Secret(ctx, ref.Name)
		switch {
		case err == nil:
			s.Secret = &token.Secret{Name: ref.Name, Data: secret.Data, Annotations: secret.Annotations}
			return nil
		case m.DeletionTimestamp != nil:
			return nil // to revoke it nobody has to know it
		case !fault.Is(err, fault.NotFound) || !mayRevoke(m.Spec.ManagementPolicies):
			return err
		}
		// A token whose Secret is gone is dead.
		client, opened := connection.Shared(ctx, c, v1alpha1.KindToken, token.New)
		if opened != nil {
			return opened
		}
		if revoked := client.Delete(ctx, *s); revoked != nil {
			return fmt.Errorf("cannot revoke token: %w", revoked)
		}
		return err
	}
	if ref := m.Spec.WriteConnectionSecretToReference; ref != nil {
		secret, err := c.Secret(ctx, ref.Name)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		s.Stored = string(secret.Data[token.ConnectionKey])
	}
	return nil
}

func mayRevoke(p xpv2.ManagementPolicies) bool {
	return slices.Contains(p, xpv2.ManagementActionAll) || slices.Contains(p, xpv2.ManagementActionUpdate)
}

// owner is the unique name of a resource, as entries of the registry have it.
func owner(kind, namespace, name string) string {
	if namespace == "" {
		return kind + "/" + name
	}
	return kind + "/" + namespace + "/" + name
}
