package serving_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// registerTenants stores the token and the own model of each tenant.
func (s *stack) registerTenants(b *bus.Bus, tenants ...history.Tenant) {
	s.tb.Helper()
	for _, t := range tenants {
		sum := sha256.Sum256([]byte(t.Token))
		token := registry.Token{SHA256: hex.EncodeToString(sum[:]), Models: []string{modelID, t.Model()}}
		put(s.tb, registry.Tokens(b), token.Key(), token)
		s.registerModel(b, t.ModelName())
	}
}

// registerModel stores the record of a model.
func (s *stack) registerModel(b *bus.Bus, name string) {
	s.tb.Helper()
	m := registry.NewModel(namespace, name, "s3://models/tiny/koldun-manifest.json", strings.Repeat("0", 64), manifest.Manifest{
		Weights: "q40", Written: time.Now(), Files: []manifest.File{{Path: "a", Size: 1}},
	})
	put(s.tb, registry.Models(b), m.Key(), m)
}

// put stores a record, and retries until the server accepts it.
func put[T any](tb testing.TB, table *registry.Table[T], key string, value T) {
	tb.Helper()
	waittest.Until(tb, key+" to be registered", func() bool {
		_, err := table.Put(waittest.Attempt(tb), key, value)
		return err == nil
	})
}
