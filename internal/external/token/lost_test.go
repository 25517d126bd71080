package token_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/fault"
)

// A token whose Secret is gone is revoked, and stays so until there is one.
func TestLostSecretRevokesTheToken(t *testing.T) {
	w := newWorld(t)
	s := token.Spec{Owner: "Token ns/a", SecretRef: &external.SecretRef{Name: "s"}, Secret: secret(given)}
	w.bring(s)
	lost := s
	lost.Secret = nil
	if o, err := w.client.Observe(t.Context(), lost); err != nil || !o.Exists || o.UpToDate || o.Ready || !strings.Contains(o.Message, `Secret "s" does not exist`) {
		t.Errorf("Observe: %+v, %v", o, err)
	}
	if err := w.client.Update(t.Context(), lost); !fault.Is(err, fault.NotFound) || w.valid(given) {
		t.Errorf("Update: %v, the token is valid: %v", err, w.valid(given))
	}
	for range 2 {
		if _, err := w.client.Observe(t.Context(), lost); !fault.Is(err, fault.NotFound) {
			t.Errorf("Observe of what is revoked: %v", err)
		}
	}
	w.bring(s)
	if !w.valid(given) {
		t.Error("the token is not valid again")
	}
}
