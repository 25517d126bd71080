package adapter

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/connpool"
)

// resource converts the managed resource for its client.
func (c *client) resource(m managedResource) catalog.Resource {
	s := secrets{Set: c.set}
	if ref := m.GetWriteConnectionSecretToReference(); ref != nil {
		s.connection = ref.Name
	}
	return catalog.Resource{
		Spec: m.GetForProvider(), Status: m.GetAtProvider(),
		Owner: c.kind.owner(m), ID: string(m.GetUID()), Namespace: m.GetNamespace(),
		Secrets: s, Deleting: meta.WasDeleted(m),
	}
}

// secrets reads the Secrets that a managed resource refers to.
type secrets struct {
	*connpool.Set
	connection string // Secret that its connection is written to; "" for none
}

// Stored returns the data of the Secret that the connection is written to.
func (s secrets) Stored(ctx context.Context) (map[string][]byte, error) {
	if s.connection == "" {
		return nil, nil
	}
	secret, err := s.Secret(ctx, s.connection)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return secret.Data, err
}
