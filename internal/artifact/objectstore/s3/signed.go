package s3

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// A grant is what the token of a signed session holds, beside its signature. So the server
// needs no state: it knows each session after a restart, and none after its secret key has
// changed.
type grant struct {
	AccessKey string
	Policy    string
	Ends      time.Time
}

// SignSession returns credentials that may do what the policy allows, until ends, on a server
// of Koldun (koldun s3 serve). secret is the key of the server's account. Errors: Internal.
func SignSession(secret, policy string, ends time.Time) (Session, error) {
	g := grant{AccessKey: "ASIA" + strings.ToUpper(rand.Text()[:16]), Policy: policy, Ends: ends}
	text, err := json.Marshal(g) //nolint:gosec // it holds the name of the key, not the key
	if err != nil {
		return Session{}, fault.As(fault.Internal, err)
	}
	body := base64.RawURLEncoding.EncodeToString(text)
	token := body + "." + derived(secret, "token", body)
	return Session{Version: 1, AccessKeyID: g.AccessKey, SecretAccessKey: derived(secret, "secret", token), SessionToken: token, Expiration: ends}, nil
}

// Signed returns the policy and the secret key of a session that SignSession has made with a
// secret. ok is false if it has not, or if the session has ended.
func Signed(secret, access, token string) (policy, key string, ok bool) {
	body, signature, _ := strings.Cut(token, ".")
	if !hmac.Equal([]byte(signature), []byte(derived(secret, "token", body))) {
		return "", "", false
	}
	text, err := base64.RawURLEncoding.DecodeString(body)
	var g grant
	if err != nil || json.Unmarshal(text, &g) != nil || g.AccessKey != access || !time.Now().Before(g.Ends) {
		return "", "", false
	}
	return g.Policy, derived(secret, "secret", token), true
}

// derived returns a key for one purpose, which does not tell the secret.
func derived(secret, purpose, of string) string {
	key := []byte(secret)
	for _, part := range []string{purpose, of} {
		h := hmac.New(sha256.New, key)
		_, _ = h.Write([]byte(part))
		key = h.Sum(nil)
	}
	return base64.RawURLEncoding.EncodeToString(key)
}
