package names_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/names"
)

// TestOwnSecrets holds that no name of an owner makes a Secret one that OwnSecret does not know:
// claims choose those names.
func TestOwnSecrets(t *testing.T) {
	suffixes := [][]string{{"model", "hub", names.Hash(8, "r")}, {"dllama", "token", names.Hash(8, "m")}, {"hub", names.Hash(8, "m"), names.Hash(8, "r")}}
	for _, kind := range []string{"dllama", "ingress", "model", "root", "session"} {
		suffixes = append(suffixes, []string{kind, "nats"}, []string{kind, "s3"}, []string{kind, "nats", "users"}, []string{kind, "nats-credentials"})
	}
	owners := []string{"a", "a.b", "A", "-", strings.Repeat("a", 20), strings.Repeat("a", 63), strings.Repeat("a.", 126) + "a", "a" + strings.Repeat("-", 60) + "b"}
	for _, suffix := range suffixes {
		for _, owner := range owners {
			name := names.Secret(owner, suffix...)
			if !names.OwnSecret(name) || len(name) > 52 || strings.Trim(name, "-abcdefghijklmnopqrstuvwxyz0123456789") != "" {
				t.Errorf("Secret(%q, %q) is %q", owner, suffix, name)
			}
			if short := names.Object(owner, suffix...); owner == "a" && name != short {
				t.Errorf("Secret(%q, %q) is %q, and was %q before", owner, suffix, name, short)
			}
		}
		if a, b := names.Secret(strings.Repeat("a", 62)+"b", suffix...), names.Secret(strings.Repeat("a", 62)+"c", suffix...); a == b {
			t.Errorf("two owners have the Secret %q", a)
		}
	}
	for _, other := range []string{"", "nats", "model-s3", "s3-keys", "nats-credentials", "my-nats-login", "hf-token", "team-hub-token", "a-gateway-nats", "x-hash-secret", "x-ingress-nats-backup"} {
		if names.OwnSecret(other) {
			t.Errorf("%q is taken as a Secret of Koldun", other)
		}
	}
}
