package serving_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/manifest"
	"github.com/gorizond/koldun/internal/registry"
	"github.com/gorizond/koldun/internal/waittest"
)

// A tenant is a caller with an API token. The zero tenant is anonymous.
type tenant struct {
	name  string
	token string
	// mark is a secret word that all its prompts, and so all its answers, contain.
	mark string
}

func newTenant(name string) tenant {
	return tenant{name: name, token: "sk-" + rand.Text(), mark: name + "-" + strings.ToLower(rand.Text())}
}

// model returns the id of a model that only this tenant may use.
func (t tenant) model() string { return namespace + "/" + t.modelName() }

func (t tenant) modelName() string { return "only-" + t.name }

// registerTenants stores the token and the own model of each tenant.
func (s *stack) registerTenants(b *bus.Bus, tenants ...tenant) {
	s.tb.Helper()
	for _, t := range tenants {
		sum := sha256.Sum256([]byte(t.token))
		token := registry.Token{SHA256: hex.EncodeToString(sum[:]), Models: []string{modelID, t.model()}}
		put(s.tb, registry.Tokens(b), token.Key(), token)
		s.registerModel(b, t.modelName())
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
		ctx, cancel := context.WithTimeout(tb.Context(), 5*time.Second)
		defer cancel()
		_, err := table.Put(ctx, key, value)
		return err == nil
	})
}
