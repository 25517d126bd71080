package keyvalueentry_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/terraform-provider/internal/provider"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

func start(t *testing.T) (*providertest.Provider, *bus.Bus) {
	t.Helper()
	n := natstest.Start(t)
	b, err := bus.Connect(t.Context(), bus.Config{URL: n.URL(), User: natstest.User, Password: natstest.Password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if err := b.EnsureKV(t.Context(), bus.KVSpec{Bucket: names.Bucket{Name: "settings"}}); err != nil {
		t.Fatal(err)
	}
	p := provider.New("test", func(string) string { return "" })
	t.Cleanup(p.Close)
	return providertest.New(t, p, map[string]any{"nats": map[string]any{"url": n.URL(), "user": natstest.User, "password": natstest.Password}}), b
}

func stored(t *testing.T, b *bus.Bus, key string) string {
	t.Helper()
	v, _, err := b.GetBytes(t.Context(), "settings", key)
	if err != nil {
		t.Fatal(err)
	}
	return string(v)
}

func TestPlainValue(t *testing.T) {
	r, b := start(t)
	for _, value := range []string{"", "text", `{"json": true}`, "line\nline"} {
		config := map[string]any{"bucket": "settings", "key": "a.b/c", "value": value}
		x := r.Resource("koldun_key_value_entry")
		if e := x.Apply(config); e != "" {
			t.Fatal(e)
		}
		x.CheckStable(config)
		if got := stored(t, b, "a.b/c"); got != value {
			t.Errorf("stored value: got %q, want %q", got, value)
		}
		if _, err := b.PutBytes(t.Context(), "settings", "a.b/c", []byte("theirs"), 0); err != nil {
			t.Fatal(err)
		}
		x.Refresh()
		if p := x.Plan(config); p.Empty || x.Attribute("value") != "theirs" {
			t.Errorf("state after another client's change: got %v", providertest.JSON(x.State))
		}
		if e := x.Apply(config); e != "" || stored(t, b, "a.b/c") != value {
			t.Errorf("the change is not undone: %s", e)
		}
		if e := x.Destroy(); e != "" {
			t.Fatal(e)
		}
	}
}

func TestSecretValue(t *testing.T) {
	r, b := start(t)
	config := map[string]any{"bucket": "settings", "key": "k", "value_wo": "first-secret", "value_wo_version": 1}
	x := r.Resource("koldun_key_value_entry")
	if e := x.Apply(config); e != "" {
		t.Fatal(e)
	}
	x.CheckStable(config)
	config["value_wo"] = "second-secret"
	x.CheckNoChanges(config) // only the version shows a change
	config["value_wo_version"] = 2
	if e := x.Apply(config); e != "" || stored(t, b, "k") != "second-secret" {
		t.Errorf("new version is not written: %s", e)
	}
	if _, err := b.PutBytes(t.Context(), "settings", "k", []byte("theirs"), 0); err != nil {
		t.Fatal(err)
	}
	x.Refresh()
	if e := x.Apply(config); e != "" || stored(t, b, "k") != "second-secret" {
		t.Errorf("another client's change is not undone: %s, stored value %q", e, stored(t, b, "k"))
	}
	x.CheckStable(config)
	if s := fmt.Sprint(providertest.JSON(x.State)); strings.Contains(s, "secret") {
		t.Errorf("got state %s", s)
	}
	imported := r.Import("koldun_key_value_entry", "settings/k")
	if s := fmt.Sprint(providertest.JSON(imported.State)); strings.Contains(s, "secret") {
		t.Errorf("imported state: got %s", s)
	}
	if e := imported.Apply(config); e != "" {
		t.Fatal(e)
	}
	imported.CheckStable(config)
}

func TestRefusals(t *testing.T) {
	r, b := start(t)
	if _, err := b.PutBytes(t.Context(), "settings", "taken", []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config map[string]any
		want   string
	}{
		"Exists":    {map[string]any{"bucket": "settings", "key": "taken", "value": "y"}, `terraform import koldun_key_value_entry.NAME "settings/taken"`},
		"NoBucket":  {map[string]any{"bucket": "none", "key": "k", "value": "y"}, "none"},
		"NoValue":   {map[string]any{"bucket": "settings", "key": "k"}, "value_wo"},
		"TwoValues": {map[string]any{"bucket": "settings", "key": "k", "value": "a", "value_wo": "b", "value_wo_version": 1}, "value_wo"},
		"NoSecret":  {map[string]any{"bucket": "settings", "key": "k", "value": "a", "value_wo_version": 1}, "value_wo"},
		"NoVersion": {map[string]any{"bucket": "settings", "key": "k", "value_wo": "b"}, "value_wo_version"},
	} {
		if e := r.Resource("koldun_key_value_entry").Apply(c.config); !strings.Contains(e, c.want) {
			t.Errorf("%s: got %q, want %q", name, e, c.want)
		}
	}
}
