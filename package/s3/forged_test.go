package s3_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/internal/fault"
)

// TestCredentialsOfAModel has the pods of a Model attack another one of their namespace.
func TestCredentialsOfAModel(t *testing.T) {
	w := start(t, read(t))
	all := opened(t, pod(w.observe(t, "team-a", nil)), "team-a")
	for _, name := range []string{"source/one/x", "source/other/x"} {
		if err := all.Put(t.Context(), name, []byte("genuine")); err != nil {
			t.Fatal(err)
		}
	}
	secret := w.observe(t, "team-a", nil, bucket.Access{Prefix: "team-a/source/one"})
	if _, err := opened(t, pod(secret), "team-a/source/one").Stat(t.Context(), "x"); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"write":      opened(t, pod(secret), "team-a/source/one").Put(t.Context(), "x", []byte("poison")),
		"other file": opened(t, pod(secret), "team-a/source/other").Put(t.Context(), "x", []byte("poison")),
	} {
		if !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v, want an error of kind Denied", what, err)
		}
	}
}

// TestForgedRights changes what a token says that its session may do, and when it ends.
func TestForgedRights(t *testing.T) {
	w := start(t, read(t))
	if err := opened(t, pod(w.observe(t, "team-b", nil)), "").Put(t.Context(), weights, []byte(genuine)); err != nil {
		t.Fatal(err)
	}
	session, err := s3.ParseSession([]byte(pod(w.observe(t, "team-a", nil)).Credentials))
	if err != nil {
		t.Fatal(err)
	}
	body, signature, _ := strings.Cut(session.SessionToken, ".")
	text, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		t.Fatal(err)
	}
	more := base64.RawURLEncoding.EncodeToString(bytes.ReplaceAll(text, []byte("team-a"), []byte("team-b")))
	const everything = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
	ended, err := s3.SignSession(w.platform().SecretKey, everything, time.Now().Add(-time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*s3.Session){
		"Policy":   func(s *s3.Session) { s.SessionToken = more + "." + signature },
		"Unsigned": func(s *s3.Session) { s.SessionToken = more },
		"NoToken":  func(s *s3.Session) { s.SessionToken = "" },
		"Root":     func(s *s3.Session) { s.AccessKeyID = w.platform().AccessKey },
		"Ended":    func(s *s3.Session) { ended.Expiration = time.Now().Add(time.Hour); *s = ended },
	} {
		t.Run(name, func(t *testing.T) {
			forged, config := session, pod(w.observe(t, "team-a", nil))
			change(&forged)
			text, err := json.Marshal(forged)
			if err != nil {
				t.Fatal(err)
			}
			config.Credentials = string(text)
			// Not Stat: answers to HEAD have no body, which would say why.
			if _, err := opened(t, config, "").Open(t.Context(), weights, 0, -1); !fault.Is(err, fault.Denied) {
				t.Errorf("got %v, want an error of kind Denied", err)
			}
		})
	}
}
