// Package bootstrap makes, once, the credentials of an S3 server and its clients, as a
// Secret.
package bootstrap

import (
	"context"
	"crypto/rand"

	"github.com/gorizond/koldun/internal/fault"
)

// A Store keeps Secrets of one namespace.
type Store interface {
	// Get returns the data of a Secret. Errors: NotFound.
	Get(ctx context.Context, name string) (map[string][]byte, error)
	// Create stores a new Secret. Errors: Conflict if it exists.
	Create(ctx context.Context, name string, data map[string][]byte) error
}

// Keys of the Secret, which spec.s3.secretRef of a ProviderConfig needs.
const (
	AccessKey = "AWS_ACCESS_KEY_ID"
	SecretKey = "AWS_SECRET_ACCESS_KEY"
)

// Secret returns the name of the Secret of the server with this name.
func Secret(server string) string { return server + "-credentials" }

// accessKeyLength is that of AWS. Some clients accept no longer ones.
const accessKeyLength = 20

// Ensure makes the Secret of a server unless it exists, and says whether it did. It changes
// none, because pods hold copies of it. Several processes may call it at the same time.
// Errors: Corrupt (a Secret without a key), those of the Store.
func Ensure(ctx context.Context, s Store, server string) (made bool, err error) {
	name := Secret(server)
	data, err := s.Get(ctx, name)
	if fault.Is(err, fault.NotFound) {
		err = s.Create(ctx, name, newCredentials())
		if !fault.Is(err, fault.Conflict) {
			return err == nil, err
		}
		data, err = s.Get(ctx, name) // another process was faster
	}
	if err != nil {
		return false, err
	}
	for _, key := range []string{AccessKey, SecretKey} {
		if len(data[key]) == 0 {
			return false, fault.Errorf(fault.Corrupt, "cannot use Secret %q: it has no key %s", name, key)
		}
	}
	return false, nil
}

// newCredentials returns a key of 260 random bits, and its name.
func newCredentials() map[string][]byte {
	return map[string][]byte{
		AccessKey: []byte(rand.Text()[:accessKeyLength]),
		SecretKey: []byte(rand.Text() + rand.Text()),
	}
}
