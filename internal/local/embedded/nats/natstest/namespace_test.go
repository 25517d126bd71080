package natstest_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// TestOfANamespace checks that the connection to an account which a provider has made may do
// everything in it.
func TestOfANamespace(t *testing.T) {
	s := natstest.StartOpenOperator(t)
	if err := s.Accounts().Ensure(t.Context(), "team", natsauth.Limits{}); err != nil {
		t.Fatal(err)
	}
	b := s.Of("team")
	if err := b.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(t.Context(), names.TokensBucket, "key", "value"); err != nil {
		t.Error(err)
	}
}
