package manifesttest

import (
	"context"

	"github.com/gorizond/koldun/internal/fault"
)

// Secrets are the Secrets of a namespace by name. They keep what the Jobs that make
// credentials write.
type Secrets map[string]map[string][]byte

// Get returns the data of a Secret. Errors: NotFound.
func (s Secrets) Get(_ context.Context, name string) (map[string][]byte, error) {
	if data, ok := s[name]; ok {
		return data, nil
	}
	return nil, fault.Errorf(fault.NotFound, "there is no Secret %q", name)
}

// Create adds a Secret.
func (s Secrets) Create(_ context.Context, name string, data map[string][]byte) error {
	s[name] = data
	return nil
}

// Set changes one key of a Secret.
func (s Secrets) Set(_ context.Context, name, key string, value []byte) error {
	s[name][key] = value
	return nil
}
