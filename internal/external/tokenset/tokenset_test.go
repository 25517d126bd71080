package tokenset_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/external/tokenset"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/waittest"
)

func plain(name, value string) token.Secret {
	return token.Secret{Name: name, Data: map[string][]byte{"token": []byte(value)}}
}

func secrets(s ...token.Secret) []token.Secret { return s }

// tokens returns the names in the registry, by hash of the token.
func tokens(t *testing.T, b *bus.Bus) map[string]registry.Token {
	t.Helper()
	all, err := registry.Tokens(b).List(t.Context(), ">")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]registry.Token{}
	for _, r := range all {
		out[r.Value.SHA256] = r.Value
	}
	return out
}

const (
	alice = "alice-has-a-long-token"
	bob   = "bob-has-a-long-token-too"
	carol = "carol-has-a-long-token"
)

func has(t *testing.T, b *bus.Bus, want ...string) {
	t.Helper()
	got := slices.Sorted(maps.Keys(tokens(t, b)))
	var hashes []string
	for _, w := range want {
		hashes = append(hashes, token.Digest(w))
	}
	slices.Sort(hashes)
	if !slices.Equal(got, hashes) {
		t.Errorf("the registry has %v, want those of %v", got, want)
	}
}

func TestLifeOfASet(t *testing.T) {
	b := natstest.Start(t).Connect(t)
	ctx := t.Context()
	c := tokenset.New(b)
	s := tokenset.Spec{Namespace: "ns", Owner: "TokenSet ns/a"}
	bring := func() tokenset.Status {
		t.Helper()
		o, err := c.Observe(ctx, s)
		if err == nil && !o.UpToDate {
			err = c.Update(ctx, s)
		}
		if err != nil {
			t.Fatal(err)
		}
		if o, err = c.Observe(ctx, s); err != nil || !o.Exists || !o.UpToDate || !o.Ready {
			t.Fatalf("Observe after Update: %+v, %v", o, err)
		}
		return o.Status
	}
	if got := bring(); got.Tokens != 0 {
		t.Errorf("status without Secrets: %+v", got)
	}
	off := plain("bob", bob+"\n")
	off.Data["disabled"] = []byte("Yes")
	off.Data["metadata"] = []byte(`{"team":"red","level":3}`)
	s.Secrets = secrets(plain("alice", alice), off, token.Secret{Name: "bad", Data: map[string][]byte{"hash": []byte("x")}}, plain("zalice", alice))
	got := bring()
	if got.Tokens != 1 || got.Disabled != 1 || len(got.Rejected) != 2 || got.Rejected[0].Secret != "bad" || got.Rejected[1].Secret != "zalice" {
		t.Errorf("status %+v", got)
	}
	has(t, b, alice, bob)
	rec := tokens(t, b)[token.Digest(bob)]
	if !rec.Disabled || rec.Metadata["team"] != "red" || rec.Metadata["level"] != "3" || rec.Namespace != "ns" {
		t.Errorf("the entry of bob is %+v", rec)
	}
	// Alice's Secret has lost its label or was deleted.
	s.Secrets = secrets(off)
	bring()
	has(t, b, bob)
	// A restarted process removes entries that it does not know.
	s.Secrets = secrets(plain("carol", carol))
	c = tokenset.New(b)
	bring()
	has(t, b, carol)
	// A change by another writer is reverted.
	if err := registry.Tokens(b).Delete(ctx, names.TokenKey(token.Digest(carol)), 0); err != nil {
		t.Fatal(err)
	}
	bring()
	has(t, b, carol)

	s.Ending = true
	for range 2 {
		if err := c.Delete(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	has(t, b)
	if o, err := c.Observe(ctx, s); err != nil || o.Exists {
		t.Errorf("Observe after Delete: %+v, %v", o, err)
	}
}

func TestSetsKeepOutOfEachOthersWay(t *testing.T) {
	b := natstest.Start(t).Connect(t)
	ctx := t.Context()
	c := tokenset.New(b)
	one := tokenset.Spec{Owner: "TokenSet ns/a", Secrets: secrets(plain("a", alice))}
	two := tokenset.Spec{Owner: "TokenSet other/a", Secrets: secrets(plain("a", alice), plain("b", bob))}
	for _, s := range []tokenset.Spec{one, two} {
		if err := c.Create(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	has(t, b, alice, bob)
	o, err := c.Observe(ctx, two)
	if err != nil || !o.UpToDate || len(o.Status.Rejected) != 1 || !strings.Contains(o.Status.Rejected[0].Reason, one.Owner) {
		t.Errorf("the second set: %+v, %v, want one Secret rejected for the first", o, err)
	}
	if err := c.Delete(ctx, one); err != nil {
		t.Fatal(err)
	}
	has(t, b, bob)
	if err := c.Update(ctx, two); err != nil {
		t.Fatal(err)
	}
	has(t, b, alice, bob)
}

func TestOtherBucketAndPrefix(t *testing.T) {
	b := natstest.Start(t).Connect(t)
	ctx := t.Context()
	if err := b.EnsureKV(ctx, bus.KVSpec{Bucket: names.Bucket{Name: "others"}}); err != nil {
		t.Fatal(err)
	}
	s := tokenset.Spec{Owner: "TokenSet ns/a", Bucket: "others", Prefix: "key.", Secrets: secrets(plain("a", alice))}
	c := tokenset.New(b)
	if err := c.Create(ctx, s); err != nil {
		t.Fatal(err)
	}
	if rec, _, err := bus.Get[registry.Token](ctx, b, "others", "key."+token.Digest(alice)); err != nil || rec.SHA256 != token.Digest(alice) {
		t.Errorf("the entry is %+v, %v", rec, err)
	}
	if o, err := c.Observe(ctx, s); err != nil || !o.UpToDate || o.Status.Tokens != 1 {
		t.Errorf("Observe: %+v, %v", o, err)
	}
	has(t, b) // nothing in the default bucket
}

func TestWatchTellsOfForeignHandsAndErrorsOfNoBucket(t *testing.T) {
	b := natstest.Start(t).Connect(t)
	s := tokenset.Spec{Owner: "TokenSet ns/a", Secrets: secrets(plain("a", alice))}
	c := tokenset.New(b)
	if err := c.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	told, done := make(chan bool, 10), make(chan error)
	go func() { done <- c.Watch(ctx, s, func() { told <- true }) }()
	waittest.Receive(t, "the beginning", told)
	if err := registry.Tokens(b).Delete(ctx, names.TokenKey(token.Digest(alice)), 0); err != nil {
		t.Fatal(err)
	}
	waittest.Receive(t, "a deletion", told)
	cancel()
	if err := waittest.Receive(t, "the watch ends", done); err != nil {
		t.Error(err)
	}
	s.Bucket = "nothing"
	if _, err := c.Observe(t.Context(), s); err == nil || fault.Is(err, fault.Internal) {
		t.Errorf("Observe without a bucket: %v of kind %q", err, fault.KindOf(err))
	}
}
