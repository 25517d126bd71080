package token_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/fault"
)

// A token is revoked while its Secret does not exist.
func TestLostSecretRevokesTheToken(t *testing.T) {
	w := newWorld(t)
	s := token.Spec{Owner: "Token ns/a", SecretRef: &external.SecretRef{Name: "s"}, Secret: secret(given)}
	w.bring(s)
	lost := s
	lost.Secret = nil
	if o, err := w.client.Observe(t.Context(), lost); err != nil || !o.Exists || o.UpToDate || o.Ready || !strings.Contains(o.Message, `Secret "s" does not exist`) {
		t.Errorf("Observe: got %+v, %v", o, err)
	}
	if err := w.client.Update(t.Context(), lost); !fault.Is(err, fault.NotFound) || w.valid(given) {
		t.Errorf("Update: got %v, valid %v", err, w.valid(given))
	}
	for range 2 {
		if _, err := w.client.Observe(t.Context(), lost); !fault.Is(err, fault.NotFound) {
			t.Errorf("Observe of a revoked token: got %v", err)
		}
	}
	w.bring(s)
	if !w.valid(given) {
		t.Error("the token is not valid again")
	}
}
