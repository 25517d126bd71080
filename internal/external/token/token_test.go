package token_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/waittest"
)

type world struct {
	t      *testing.T
	bus    *bus.Bus
	client *token.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := natstest.Start(t)
	b, err := bus.Connect(t.Context(), bus.Config{URL: s.URL(), User: natstest.User, Password: natstest.Password, Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if err := b.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &world{t: t, bus: b, client: token.New(b)}
}

// bring reconciles a spec, and returns the last observation.
func (w *world) bring(s token.Spec) external.Observation[token.Status] {
	w.t.Helper()
	o, err := w.client.Observe(w.t.Context(), s)
	switch {
	case err != nil:
	case !o.Exists:
		err = w.client.Create(w.t.Context(), s)
	case !o.UpToDate:
		err = w.client.Update(w.t.Context(), s)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if o, err = w.client.Observe(w.t.Context(), s); err != nil || !o.Exists || !o.UpToDate || !o.Ready {
		w.t.Fatalf("Observe at the end: %+v, %v", o, err)
	}
	return o
}

// valid reports whether the registry has a valid token.
func (w *world) valid(value string) bool {
	w.t.Helper()
	r, err := registry.Tokens(w.bus).Get(w.t.Context(), names.TokenKey(token.Digest(value)))
	if fault.Is(err, fault.NotFound) {
		return false
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return r.Value.Valid(time.Now())
}

func duration(d time.Duration) *external.Duration {
	e := external.Duration(d)
	return &e
}

const given = "a-token-that-was-given"

func secret(value string) *token.Secret {
	return &token.Secret{Name: "s", Data: map[string][]byte{"token": []byte(value)}}
}

func TestGivenTokens(t *testing.T) {
	cases := map[string]token.Spec{
		"Hash":         {SHA256: token.Digest(given)},
		"Secret":       {Secret: secret(given)},
		"SecretOfHash": {Secret: &token.Secret{Name: "s", Data: map[string][]byte{"hash": []byte(strings.ToUpper(token.Digest(given)))}}},
	}
	for name, s := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s.Owner, s.Models, s.RequestsPerMinute, s.Tenant = "Token ns/a", []string{"ns/m"}, 7, "shop"
			if o, err := w.client.Observe(t.Context(), s); err != nil || o.Exists {
				t.Fatalf("Observe of nothing: %+v, %v", o, err)
			}
			o := w.bring(s)
			if o.Status.Key != names.TokenKey(token.Digest(given)) || len(o.Connection) != 0 || !w.valid(given) {
				t.Errorf("Observe: %+v", o)
			}
			r, err := registry.Tokens(w.bus).Get(t.Context(), o.Status.Key)
			if err != nil || r.Value.Limits.RequestsPerMinute != 7 || r.Value.Tenant != "shop" || !r.Value.Allows("ns/m") || r.Value.Allows("ns/other") {
				t.Errorf("got entry %+v, %v", r.Value, err)
			}
			s.Disabled = true
			w.bring(s)
			if w.valid(given) {
				t.Error("a disabled token is valid")
			}
			past := time.Now().Add(-time.Second)
			s.Disabled, s.Expires = false, &past
			w.bring(s)
			if w.valid(given) {
				t.Error("an expired token is valid")
			}
			for range 2 {
				if err := w.client.Delete(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			if o, err := w.client.Observe(t.Context(), s); err != nil || o.Exists {
				t.Errorf("Observe after Delete: %+v, %v", o, err)
			}
		})
	}
}

// Two Terraform resources with one name and different prefixes have one owner.
func TestRecordsOfOneOwnerHaveTheirOwnToken(t *testing.T) {
	w := newWorld(t)
	first, second := token.Spec{Owner: "terraform/a"}, token.Spec{Owner: "terraform/a", Prefix: "other/"}
	a, b := w.bring(first).Connection, w.bring(second).Connection
	if one, two := string(a[token.ConnectionKey]), string(b[token.ConnectionKey]); one == "" || one == two {
		t.Errorf("both tokens are %q", one)
	}
}

func TestAnotherSecretReplacesTheToken(t *testing.T) {
	w := newWorld(t)
	const next = "the-token-that-comes-next"
	s := token.Spec{Owner: "Token ns/a", Secret: secret(given)}
	w.bring(s)
	s.Secret = secret(next)
	w.bring(s)
	if w.valid(given) || !w.valid(next) {
		t.Error("without an overlap, the old token is valid or the new one is not")
	}
	s.Secret, s.Overlap = secret(given), duration(time.Hour)
	if o := w.bring(s); !w.valid(given) || !w.valid(next) || o.Status.Replaced != 1 {
		t.Errorf("one token is not valid during the overlap: %+v", o.Status)
	}
	s.Disabled = true
	if w.bring(s); w.valid(given) {
		t.Error("a disabled token is valid")
	}
}

func TestGeneratedTokenSurvivesUntilItIsKept(t *testing.T) {
	w := newWorld(t)
	s := token.Spec{Owner: "Token ns/a"}
	first := string(w.bring(s).Connection[token.ConnectionKey])
	if len(first) < 30 || !w.valid(first) {
		t.Fatalf("generated token: got %d bytes, valid %t", len(first), w.valid(first))
	}
	if again := string(w.bring(s).Connection[token.ConnectionKey]); again != first {
		t.Error("the second observation returns another token")
	}
	s.Stored = first
	w.bring(s)
	w.client = token.New(w.bus) // a restarted process
	if again := string(w.bring(s).Connection[token.ConnectionKey]); again != first {
		t.Error("a restart generates another token")
	}
	// The token is lost with its Secret, and another one is generated.
	s.Stored = ""
	w.client = token.New(w.bus)
	second := string(w.bring(s).Connection[token.ConnectionKey])
	if second == first || !w.valid(second) || w.valid(first) {
		t.Error("a lost token is not replaced")
	}
}

func TestRotationWithOverlap(t *testing.T) {
	w := newWorld(t)
	const overlap = 2 * time.Second
	s := token.Spec{Owner: "Token ns/a", RotateAfter: duration(5 * time.Second), Overlap: duration(overlap)}
	o := w.bring(s)
	first := string(o.Connection[token.ConnectionKey])
	s.Stored = first
	ctx, cancel := context.WithCancel(t.Context())
	changes, done := make(chan bool, 100), make(chan error)
	go func() { done <- w.client.Watch(ctx, s, func() { changes <- true }) }()
	second := first
	var before time.Time // of the rotation
	for second == first {
		waittest.Receive(t, "the token is rotated", changes)
		before = time.Now()
		second = string(w.bring(s).Connection[token.ConnectionKey])
	}
	if both := w.valid(first) && w.valid(second); !both && time.Since(before) < overlap {
		t.Error("one token is not valid during the overlap")
	}
	s.Stored, s.RotateAfter = second, nil
	waittest.Until(t, "the old token ends", func() bool {
		select {
		case <-changes:
			w.bring(s)
		default:
		}
		return !w.valid(first)
	})
	cancel()
	if err := waittest.Receive(t, "the watch ends", done); err != nil {
		t.Error(err)
	}
}

func TestATokenOfSomebodyElseIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.bring(token.Spec{Owner: "Token ns/a", Secret: secret(given)})
	other := token.Spec{Owner: "Token ns/b", Secret: secret(given), Disabled: true}
	if err := w.client.Create(t.Context(), other); !fault.Is(err, fault.Conflict) || strings.Contains(err.Error(), given) {
		t.Errorf("Create: got %v, want Conflict", err)
	}
	if err := w.client.Delete(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if !w.valid(given) {
		t.Error("another owner has revoked the token")
	}
}

func TestParseRefuses(t *testing.T) {
	cases := map[string]struct {
		data map[string]string
		want string // in the error
	}{
		"Nothing":    {map[string]string{}, "neither"},
		"Short":      {map[string]string{"token": "short"}, "too short"},
		"Bootstrap":  {map[string]string{"hash": "not-hex"}, "64 digits"},
		"Guessed":    {map[string]string{"hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}, "anyone guesses"},
		"LineEnd":    {map[string]string{"hash": strings.ToUpper(token.Digest("password\n"))}, "anyone guesses"},
		"Disagree":   {map[string]string{"token": given, "hash": token.Digest("x")}, "not the SHA-256"},
		"Expires":    {map[string]string{"token": given, "expires": "tomorrow"}, "expires"},
		"Metadata":   {map[string]string{"token": given, "metadata": "[1]"}, "metadata"},
		"Limit":      {map[string]string{"token": given, "requestsPerMinute": "-1"}, "requestsPerMinute"},
		"LimitWords": {map[string]string{"token": given, "tokensPerMinute": "many"}, "tokensPerMinute"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := token.Secret{Name: "s", Data: map[string][]byte{}}
			for k, v := range c.data {
				s.Data[k] = []byte(v)
			}
			_, err := token.Parse(s)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), given) {
				t.Errorf("Parse: got %v, want an error with %q and without the token", err, c.want)
			}
		})
	}
}

// TestGuessedHashes holds that the hash of a well-known word becomes no token, and that one that
// did before can be seen and deleted.
func TestGuessedHashes(t *testing.T) {
	w := newWorld(t)
	s := token.Spec{SHA256: token.Digest("test"), Owner: "Token ns/a"}
	if err := w.client.Create(t.Context(), s); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "anyone guesses") || w.valid("test") {
		t.Fatalf("the hash of a word becomes a token: %v", err)
	}
	old := registry.Token{SHA256: s.SHA256, Owner: s.Owner}
	if _, err := registry.Tokens(w.bus).Put(t.Context(), old.Key(), old); err != nil {
		t.Fatal(err)
	}
	if o, err := w.client.Observe(t.Context(), s); err != nil || !o.Exists || o.UpToDate {
		t.Errorf("Observe of an earlier one: %+v, %v", o, err)
	}
	if err := w.client.Delete(t.Context(), s); err != nil || w.valid("test") {
		t.Errorf("an earlier one stays: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(given), []byte(""), []byte(`{"a":1}`), []byte("2027-01-31T00:00:00Z"), []byte("a/b, c/d"))
	f.Add([]byte(""), []byte(token.Digest(given)), []byte("{"), []byte("x"), []byte("\n"))
	f.Fuzz(func(t *testing.T, value, hash, metadata, expires, models []byte) {
		rec, err := token.Parse(token.Secret{Data: map[string][]byte{
			"token": value, "hash": hash, "metadata": metadata, "expires": expires, "models": models, "disabled": metadata,
		}})
		if err != nil {
			if len(value) >= 16 && !strings.Contains(string(value), " ") && strings.Contains(err.Error(), string(value)) {
				t.Errorf("error contains the token: %v", err)
			}
			return
		}
		if len(rec.SHA256) != 64 || strings.Trim(rec.SHA256, "0123456789abcdef") != "" {
			t.Errorf("got digest %q", rec.SHA256)
		}
	})
}
