package hostile_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/waittest"
)

// TestStolenCredentials tries what a thief can make of a credentials file, which holds the
// seed of its user, after the credentials were revoked.
func TestStolenCredentials(t *testing.T) {
	t.Parallel()
	s := natstest.StartOperator(t)
	accounts := s.Accounts()
	if err := accounts.Ensure(t.Context(), "victim", natsauth.Limits{}); err != nil {
		t.Fatal(err)
	}
	user, err := natstest.Keyring.User(natsauth.Grant{Namespace: "victim", Owner: "pod", Role: natsauth.Gateway}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	leaked := time.Now()
	waittest.Until(t, "the next second", func() bool { return time.Now().Unix() > leaked.Unix() })
	if err := accounts.RevokeBefore(t.Context(), "victim", leaked, 0); err != nil {
		t.Fatal(err)
	}
	token, _ := jwt.ParseDecoratedJWT([]byte(user.Credentials))
	pair, err := nkeys.ParseDecoratedUserNKey([]byte(user.Credentials))
	if err != nil {
		t.Fatal(err)
	}
	for name, forged := range map[string]string{"AsTheyAre": token, "LaterIssue": issuedNow(t, token), "OwnAccountKey": signedBy(t, token)} {
		t.Run(name, func(t *testing.T) {
			nc, err := nats.Connect(s.URL(), nats.UserJWT(func() (string, error) { return forged, nil }, pair.Sign), nats.CustomInboxPrefix(user.InboxPrefix))
			if err == nil {
				nc.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "Authorization Violation") && !strings.Contains(err.Error(), "authorization violation") {
				t.Errorf("the server says %v, want a refusal", err)
			}
		})
	}
	renewed, err := natstest.Keyring.User(natsauth.Grant{Namespace: "victim", Owner: "pod", Role: natsauth.Gateway}, time.Hour)
	if err != nil || renewed.ID != user.ID {
		t.Fatalf("renewed credentials are of user %s, want %s (%v)", renewed.ID, user.ID, err)
	}
	connect(t, bus.Config{URL: s.URL(), Creds: renewed.Credentials, InboxPrefix: renewed.InboxPrefix})
}

// issuedNow changes the time of issue of a JWT, and leaves its signature as it is.
func issuedNow(t *testing.T, token string) string {
	t.Helper()
	claims, err := jwt.DecodeUserClaims(token)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(token, ".")
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	was := fmt.Appendf(nil, `"iat":%d`, claims.IssuedAt)
	if !bytes.Contains(body, was) {
		t.Fatalf("the JWT has no %s", was)
	}
	body = bytes.Replace(body, was, fmt.Appendf(nil, `"iat":%d`, time.Now().Unix()), 1)
	parts[1] = base64.RawURLEncoding.EncodeToString(body)
	return strings.Join(parts, ".")
}

// signedBy makes a JWT of the same user, signed by a key of the thief.
func signedBy(t *testing.T, token string) string {
	t.Helper()
	claims, err := jwt.DecodeUserClaims(token)
	if err != nil {
		t.Fatal(err)
	}
	key, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	forged, err := claims.Encode(key)
	if err != nil {
		t.Fatal(err)
	}
	return forged
}
