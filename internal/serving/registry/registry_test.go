package registry

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/waittest"
)

// eventually polls until ok is true.
func model(name string) Model {
	return NewModel("default", name, "s3://models/"+name+"/koldun-manifest.json", strings.Repeat("0", 64), manifest.Manifest{
		Weights: "q40", Written: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Files: []manifest.File{{Path: "a", Size: 3}, {Path: "b", Size: 4}},
	})
}

func token(c string) Token { return Token{Version: 1, SHA256: strings.Repeat(c, 64)} }

func TestTable(t *testing.T) {
	ctx := t.Context()
	models := Models(natstest.Start(t).Connect(t))
	m := model("tiny")
	if m.Size != 7 || m.ID() != "default/tiny" {
		t.Errorf("NewModel = %+v", m)
	}

	if _, err := models.Get(ctx, m.Key()); !fault.Is(err, fault.NotFound) {
		t.Errorf("Get of nothing: %v", err)
	}
	rev, err := models.Swap(ctx, m.Key(), m, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := models.Swap(ctx, m.Key(), m, 0); !fault.Is(err, fault.Conflict) {
		t.Errorf("second create: %v", err)
	}
	m.Digest = strings.Repeat("1", 64)
	rev2, err := models.Swap(ctx, m.Key(), m, rev)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := models.Swap(ctx, m.Key(), m, rev); !fault.Is(err, fault.Conflict) {
		t.Errorf("swap of an old revision: %v", err)
	}
	got, err := models.Get(ctx, m.Key())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Record[Model]{Key: m.Key(), Value: m, Revision: rev2}, got); d != "" {
		t.Error(d)
	}

	other := model("other")
	if _, err := models.Put(ctx, other.Key(), other); err != nil {
		t.Fatal(err)
	}
	all, err := models.List(ctx, ">")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, r := range all {
		keys = append(keys, r.Key)
	}
	sort.Strings(keys)
	if d := cmp.Diff([]string{other.Key(), m.Key()}, keys); d != "" {
		t.Error(d)
	}

	if err := models.Delete(ctx, m.Key(), rev); !fault.Is(err, fault.Conflict) {
		t.Errorf("delete of an old revision: %v", err)
	}
	if err := models.Delete(ctx, m.Key(), rev2); err != nil {
		t.Error(err)
	}
	if err := models.Delete(ctx, m.Key(), 0); err != nil {
		t.Errorf("second delete: %v", err)
	}
	if _, err := models.Swap(ctx, m.Key(), m, 0); err != nil {
		t.Errorf("create after delete: %v", err)
	}
}

func TestTableRefusesWhatIsNoRecord(t *testing.T) {
	ctx := t.Context()
	b := natstest.Start(t).Connect(t)
	m := model("tiny")
	cases := map[string]struct {
		write func() error
		kind  fault.Kind
	}{
		"KeyOfAnother": {func() error { _, err := Models(b).Put(ctx, names.ModelKey("x", "y"), m); return err }, fault.Invalid},
		"NoName":       {func() error { _, err := Models(b).Put(ctx, "model/a/", Model{Namespace: "a"}); return err }, fault.Invalid},
		"Wildcard":     {func() error { _, err := Models(b).Put(ctx, "model/a/*", Model{Namespace: "a", Name: "*"}); return err }, fault.Invalid},
		"NoDigest":     {func() error { _, err := Tokens(b).Put(ctx, "token/", Token{}); return err }, fault.Invalid},
		"UpperDigest": {func() error {
			_, err := Tokens(b).Put(ctx, token("A").Key(), token("A"))
			return err
		}, fault.Invalid},
		"NegativeLimit": {func() error {
			tok := token("a")
			tok.Limits.TokensPerMinute = -1
			_, err := Tokens(b).Put(ctx, tok.Key(), tok)
			return err
		}, fault.Invalid},
		"FutureVersion": {func() error {
			m := m
			m.Version = 2
			_, err := Models(b).Put(ctx, m.Key(), m)
			return err
		}, fault.Unsupported},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if err := c.write(); !fault.Is(err, c.kind) {
				t.Errorf("err = %v, want %s", err, c.kind)
			}
		})
	}

	// List omits invalid records, and Get reports them.
	if _, err := b.Put(ctx, names.ModelsBucket, m.Key(), "a string"); err != nil {
		t.Fatal(err)
	}
	if _, err := Models(b).Get(ctx, m.Key()); !fault.Is(err, fault.Corrupt) {
		t.Errorf("Get: %v", err)
	}
	all, err := Models(b).List(ctx, ">")
	if err != nil || len(all) != 0 {
		t.Errorf("List = %v, %v", all, err)
	}
}

func TestListOfAnEmptyTableAndACancelledContext(t *testing.T) {
	b := natstest.Start(t).Connect(t)
	if all, err := Models(b).List(t.Context(), ">"); err != nil || len(all) != 0 {
		t.Errorf("List = %v, %v", all, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Models(b).List(ctx, ">"); !fault.Is(err, fault.Interrupted) {
		t.Errorf("err = %v", err)
	}
}

func TestProgressRecords(t *testing.T) {
	table := Progress(natstest.Start(t).Connect(t))
	key := names.ProgressKey("default", "tiny-0123456789", "fetch")
	want := progress.Report{Stage: "fetch", Phase: progress.Running, Bytes: 5, Total: 10}
	if _, err := table.Put(t.Context(), key, want); err != nil {
		t.Fatal(err)
	}
	got, err := table.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got.Value); d != "" {
		t.Error(d)
	}
}

func TestCacheFollowsAndSurvivesARestart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := natstest.Start(t)
	b := server.Connect(t)
	tokens := Tokens(b)
	for i := range 3 {
		tok := token(fmt.Sprint(i))
		if _, err := tokens.Put(ctx, tok.Key(), tok); err != nil {
			t.Fatal(err)
		}
	}
	cache := tokens.Cache()
	done := make(chan bool)
	go func() { cache.Run(ctx); close(done) }()
	waittest.Receive(t, "the cache is synced", cache.Synced())
	if n := len(cache.All()); n != 3 {
		t.Fatalf("%d records, want 3", n)
	}

	disabled := token("0")
	disabled.Disabled = true
	if _, err := tokens.Put(ctx, disabled.Key(), disabled); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the change is seen", func() bool { got, ok := cache.Get(disabled.Key()); return ok && got.Disabled })

	// A record that cannot be read must not leave the old one valid.
	if _, err := b.Put(ctx, names.TokensBucket, token("1").Key(), []int{1}); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the broken record is gone", func() bool { _, ok := cache.Get(token("1").Key()); return !ok })

	server.Stop()
	if _, ok := cache.Get(token("2").Key()); !ok {
		t.Error("the cache forgets without a connection")
	}
	server.Restart()
	waittest.Until(t, "deletion after the restart", func() bool { return tokens.Delete(ctx, token("2").Key(), 0) == nil })
	waittest.Until(t, "the deletion is seen", func() bool { _, ok := cache.Get(token("2").Key()); return !ok })

	cancel()
	waittest.Receive(t, "the cache ends", done)
}

func TestToken(t *testing.T) {
	now := time.Now()
	cases := map[string]struct {
		token         Token
		valid, allows bool
	}{
		"Plain":          {Token{}, true, true},
		"Disabled":       {Token{Disabled: true}, false, true},
		"Expired":        {Token{Expires: now}, false, true},
		"ExpiresLater":   {Token{Expires: now.Add(time.Second)}, true, true},
		"Listed":         {Token{Models: []string{"a/b", "default/tiny"}}, true, true},
		"Namespace":      {Token{Models: []string{"default/*"}}, true, true},
		"All":            {Token{Models: []string{"*"}}, true, true},
		"Other":          {Token{Models: []string{"default/tin", "def/*", "tiny"}}, true, false},
		"OtherNamespace": {Token{Models: []string{"other/*"}}, true, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.token.Valid(now) != c.valid || c.token.Allows("default/tiny") != c.allows {
				t.Errorf("valid %t, allows %t", c.token.Valid(now), c.token.Allows("default/tiny"))
			}
		})
	}
}

func TestSlots(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := natstest.Start(t).Connect(t)
	slots, demands := Slots(b), Demands(b)
	slotCache, demandCache := slots.Cache(), demands.Cache()
	var caches sync.WaitGroup
	caches.Go(func() { slotCache.Run(ctx) })
	caches.Go(func() { demandCache.Run(ctx) })
	waittest.Receive(t, "the slots are synced", slotCache.Synced())
	waittest.Receive(t, "the demand is synced", demandCache.Synced())

	first := NewSlot("default", 0, "default_tiny_1")
	rev, err := slots.SwapTTL(ctx, first.Key(), first, 0, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	rival := NewSlot("default", 0, "default_tiny_2")
	if _, err := slots.SwapTTL(ctx, rival.Key(), rival, 0, time.Second); !fault.Is(err, fault.Conflict) {
		t.Errorf("a slot is held twice: %v", err)
	}
	if _, err := slots.SwapTTL(ctx, "slot.default.1", first, 0, time.Second); !fault.Is(err, fault.Invalid) {
		t.Errorf("err = %v", err)
	}
	d := Demand{Version: 1, Session: "default_tiny_1", Namespace: "default", Model: "tiny"}
	if _, err := demands.PutTTL(ctx, d.Session, d, time.Hour); err != nil {
		t.Fatal(err)
	}
	stayed, err := slots.SwapTTL(ctx, first.Key(), first, rev, time.Hour)
	if err != nil {
		t.Errorf("the holder cannot stay: %v", err)
	}
	waittest.Until(t, "both are seen", func() bool {
		r, ok := slotCache.Record(first.Key())
		_, demanded := demandCache.Get(d.Session)
		return ok && demanded && r.Value == first && r.Revision > rev
	})
	if _, err := slots.SwapTTL(ctx, first.Key(), first, stayed, time.Second); err != nil {
		t.Errorf("the holder cannot stay: %v", err)
	}
	waittest.Until(t, "the slot is free again", func() bool { _, ok := slotCache.Get(first.Key()); return !ok })
	if n := len(demandCache.All()); n != 1 {
		t.Errorf("%d records of demand", n)
	}
	if _, err := slots.SwapTTL(ctx, rival.Key(), rival, 0, time.Second); err != nil {
		t.Errorf("the slot cannot be taken again: %v", err)
	}
	cancel()
	waittest.Returns(t, "the caches end", caches.Wait)
}

func TestLimitsOr(t *testing.T) {
	got := Limits{TokensPerMinute: 5}.Or(Limits{RequestsPerMinute: 1, TokensPerMinute: 9, ConcurrentRequests: 2})
	if want := (Limits{RequestsPerMinute: 1, TokensPerMinute: 5, ConcurrentRequests: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDemandExpires(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	table := Demands(natstest.Start(t).Connect(t))
	cache := table.Cache()
	done := make(chan bool)
	go func() { cache.Run(ctx); close(done) }()
	waittest.Receive(t, "the cache is synced", cache.Synced())
	d := Demand{Version: 1, Session: names.Session("default", "tiny", ""), Namespace: "default", Model: "tiny"}
	if _, err := table.PutTTL(ctx, "other", d, time.Second); !fault.Is(err, fault.Invalid) {
		t.Errorf("err = %v", err)
	}
	if _, err := table.PutTTL(ctx, d.Session, d, time.Hour); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the demand is seen", func() bool { got, ok := cache.Get(d.Session); return ok && got == d })
	if _, err := table.PutTTL(ctx, d.Session, d, time.Second); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "its end is seen", func() bool { _, ok := cache.Get(d.Session); return !ok })
	cancel()
	waittest.Receive(t, "the cache ends", done)
}
