package s3_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
)

// TestForgedSessions changes what a server reads of a session.
func TestForgedSessions(t *testing.T) {
	const secret, policy = "the secret of the server", `{"Statement":[]}`
	session, err := s3.SignSession(secret, policy, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if got, key, ok := s3.Signed(secret, session.AccessKeyID, session.SessionToken); !ok || got != policy || key != session.SecretAccessKey {
		t.Errorf("a session of the server: %q, %v", got, ok)
	}
	ended, err := s3.SignSession(secret, policy, time.Now().Add(-time.Second))
	if err != nil {
		t.Fatal(err)
	}
	body, signature, _ := strings.Cut(session.SessionToken, ".")
	more := base64.RawURLEncoding.EncodeToString([]byte(`{"AccessKey":"` + session.AccessKeyID + `","Policy":"all","Ends":"2999-01-01T00:00:00Z"}`))
	for name, c := range map[string]struct{ secret, access, token string }{
		"OtherSecret": {"another", session.AccessKeyID, session.SessionToken},
		"OtherName":   {secret, "root", session.SessionToken},
		"OtherPolicy": {secret, session.AccessKeyID, more + "." + signature},
		"Unsigned":    {secret, session.AccessKeyID, more},
		"NoBody":      {secret, session.AccessKeyID, "." + signature},
		"NoSignature": {secret, session.AccessKeyID, body + "."},
		"Empty":       {secret, session.AccessKeyID, ""},
		"SecretKey":   {secret, session.AccessKeyID, body + "." + session.SecretAccessKey},
		"Ended":       {secret, ended.AccessKeyID, ended.SessionToken},
	} {
		if policy, key, ok := s3.Signed(c.secret, c.access, c.token); ok || policy != "" || key != "" {
			t.Errorf("%s: it is accepted", name)
		}
	}
}
