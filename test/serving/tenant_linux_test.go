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

// A tenant is somebody with an API token. The zero tenant is anonymous.
type tenant struct {
	name  string
	token string
	// mark is a word of all its prompts, and so of all its answers, that nobody
	// else knows.
	mark string
}

func newTenant(name string) tenant {
	return tenant{name: name, token: "sk-" + rand.Text(), mark: name + "-" + strings.ToLower(rand.Text())}
}

// model is the id of a model that only this tenant may use.
func (t tenant) model() string { return namespace + "/" + t.modelName() }

func (t tenant) modelName() string { return "only-" + t.name }

// admit makes the tenants known to the gateways.
func (s *stack) admit(b *bus.Bus, tenants ...tenant) {
	s.tb.Helper()
	for _, t := range tenants {
		sum := sha256.Sum256([]byte(t.token))
		token := registry.Token{SHA256: hex.EncodeToString(sum[:]), Models: []string{modelID, t.model()}}
		put(s.tb, registry.Tokens(b), token.Key(), token)
		s.register(b, t.modelName())
	}
}

// register makes a model known.
func (s *stack) register(b *bus.Bus, name string) {
	s.tb.Helper()
	m := registry.NewModel(namespace, name, "s3://models/tiny/koldun-manifest.json", strings.Repeat("0", 64), manifest.Manifest{
		Weights: "q40", Written: time.Now(), Files: []manifest.File{{Path: "a", Size: 1}},
	})
	put(s.tb, registry.Models(b), m.Key(), m)
}

// put stores a record as soon as the server can.
func put[T any](tb testing.TB, table *registry.Table[T], key string, value T) {
	tb.Helper()
	waittest.Until(tb, key+" to be registered", func() bool {
		ctx, cancel := context.WithTimeout(tb.Context(), 5*time.Second)
		defer cancel()
		_, err := table.Put(ctx, key, value)
		return err == nil
	})
}
