package managed_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/terraform-provider/internal/provider"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

func TestOutsideChangeIsShownAndUndone(t *testing.T) {
	w := start(t, nil)
	config := map[string]any{"name": "drift", "subjects": []any{"drift.>"}, "max_age": "1h"}
	r := w.Resource("koldun_stream")
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	changed := bus.StreamSpec{Stream: names.Stream{Name: "drift", Subjects: []string{"drift.a", "drift.b"}, MaxAge: time.Hour, MaxBytes: 4096, DiscardNew: true}, Replicas: 1}
	if err := w.bus.EnsureStream(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	r.Refresh()
	for attribute, want := range map[string]string{"subjects": "[drift.a drift.b]", "max_bytes": "4096", "discard": "new", "max_age": "1h"} {
		if got := text(r.Attribute(attribute)); got != want {
			t.Errorf("%s after the change: got %s, want %s", attribute, got, want)
		}
	}
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(config)
	got, err := w.bus.Manager().ViewStream(t.Context(), "drift")
	if err != nil || got.MaxBytes != 0 || got.DiscardNew || strings.Join(got.Subjects, " ") != "drift.>" {
		t.Errorf("got stream %+v, %v", got, err)
	}
}

func TestOutsideDeletionIsANewCreation(t *testing.T) {
	w := start(t, nil)
	config := map[string]any{"bucket": "gone"}
	r := w.Resource("koldun_key_value")
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	if err := w.bus.Manager().DeleteKV(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	r.Refresh()
	if !r.State.IsNull() {
		t.Fatalf("got state %v, want none", providertest.JSON(r.State))
	}
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(config)
}

func TestChangeInPlaceAndReplacement(t *testing.T) {
	w := start(t, nil)
	r := w.Resource("koldun_stream")
	if e := r.Apply(map[string]any{"name": "one", "subjects": []any{"s.>"}}); e != "" {
		t.Fatal(e)
	}
	larger := map[string]any{"name": "one", "subjects": []any{"s.>"}, "max_bytes": 1 << 20}
	p := r.Plan(larger)
	if len(p.Replace) > 0 || p.Empty {
		t.Errorf("a larger limit replaces the stream for %v", p.Replace)
	}
	if e := r.Apply(larger); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(larger)
	renamed := map[string]any{"name": "two", "subjects": []any{"s.>"}}
	if p := r.Plan(renamed); len(p.Replace) != 1 || !strings.Contains(p.Replace[0], "name") {
		t.Errorf("rename: got a replacement for %v, want name", p.Replace)
	}
	if e := r.Apply(renamed); e != "" {
		t.Fatal(e)
	}
	if _, err := w.bus.Manager().ViewStream(t.Context(), "one"); err == nil {
		t.Error("the stream of the old name still exists")
	}
}

func TestWhatExistsIsRefusedOrAdopted(t *testing.T) {
	for name, c := range map[string]struct {
		provider map[string]any
		want     string
	}{
		"Refused": {nil, `terraform import koldun_key_value.NAME "theirs"`},
		"Adopted": {map[string]any{"adopt_existing": true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, c.provider)
			if err := w.bus.EnsureKV(t.Context(), bus.KVSpec{Bucket: names.Bucket{Name: "theirs"}}); err != nil {
				t.Fatal(err)
			}
			r := w.Resource("koldun_key_value")
			e := r.Apply(map[string]any{"bucket": "theirs"})
			if c.want == "" && e != "" || !strings.Contains(e, c.want) {
				t.Errorf("got %q, want %q", e, c.want)
			}
			if c.want != "" && !r.State.IsNull() {
				t.Error("the refused resource is in the state")
			}
		})
	}
}

func TestInvalidIsFoundBeforeApply(t *testing.T) {
	w := start(t, nil)
	for name, c := range map[string]struct {
		kind   string
		config map[string]any
		want   []string // nil: valid
	}{
		"Enum":         {"koldun_stream", map[string]any{"name": "s", "subjects": []any{"s"}, "discard": "all"}, []string{"discard", `"old"`, `"new"`}},
		"Maximum":      {"koldun_stream", map[string]any{"name": "s", "subjects": []any{"s"}, "replicas": 9}, []string{"replicas", "5"}},
		"Pattern":      {"koldun_stream", map[string]any{"name": "a b", "subjects": []any{"s"}}, []string{"name"}},
		"EmptyList":    {"koldun_stream", map[string]any{"name": "s", "subjects": []any{}}, []string{"subjects", "at least 1"}},
		"TooLong":      {"koldun_bucket", map[string]any{"bucket_name": strings.Repeat("b", 64)}, []string{"bucket_name", "63"}},
		"Duration":     {"koldun_stream", map[string]any{"name": "s", "subjects": []any{"s"}, "max_age": "soon"}, []string{"max_age", `"soon" is no duration such as 90s`}},
		"DaysAreNone":  {"koldun_key_value", map[string]any{"bucket": "b", "ttl": "7d"}, []string{"ttl", `"7d" is no duration`}},
		"DurationAt":   {"koldun_consumer", map[string]any{"stream": "s", "name": "c", "backoff": []any{"1s", "later"}}, []string{"backoff", `"later" is no duration`}},
		"Durations":    {"koldun_consumer", map[string]any{"stream": "s", "name": "c", "backoff": []any{"1s", "1h30m"}, "ack_wait": providertest.Unknown{}}, nil},
		"NotYetKnown":  {"koldun_stream", map[string]any{"name": providertest.Unknown{}, "subjects": providertest.Unknown{}}, nil},
		"HalfKnown":    {"koldun_stream", map[string]any{"name": providertest.Unknown{}, "subjects": []any{providertest.Unknown{}}, "discard": "all"}, []string{"discard"}},
		"NoSecret":     {"koldun_nats_user", map[string]any{"namespace": "team", "name": "app", "users": []any{map[string]any{"name": "g", "role": "gateway"}}}, []string{"write_secret_to"}},
		"NoRole":       {"koldun_nats_user", usersOf("team", "admin"), []string{"users", `"admin"`, `"gateway"`}},
		"NoProgress":   {"koldun_nats_user", usersOf("team", "job"), []string{"users", "progress is that of the role job"}},
		"ShortLife":    {"koldun_nats_user", with(usersOf("team", "gateway"), "lifetime", "1m"), []string{"lifetime is between 10m and 720h"}},
		"BadNamespace": {"koldun_nats_account", map[string]any{"namespace": "Team_A"}, []string{"namespace"}},
		"WaitForWhat":  {"koldun_bucket", map[string]any{"bucket_name": "bbb", "wait": map[string]any{"until": "godot"}}, []string{"wait", "godot"}},
		"NothingWrong": {"koldun_bucket", map[string]any{"bucket_name": "bbb"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := w.Resource(c.kind).Validate(c.config)
			if c.want == nil && got != "" {
				t.Errorf("got error %s, want none", got)
			}
			if c.want != nil && got == "" {
				t.Error("got no error")
			}
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("got %q, want %q in it", got, want)
				}
			}
		})
	}
}

func with(config map[string]any, name string, v any) map[string]any {
	config[name] = v
	return config
}

func TestUnreachableIsNotGone(t *testing.T) {
	w := start(t, nil)
	config := map[string]any{"bucket": "kept"}
	r := w.Resource("koldun_key_value")
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	w.nats.Stop()
	if e := r.Read(); e == "" || r.State.IsNull() {
		t.Errorf("read from an unreachable server: got error %q and state %v", e, providertest.JSON(r.State))
	}
}

// TestUnconfiguredIsSaidByThePlan plans without a configuration of the provider.
func TestUnconfiguredIsSaidByThePlan(t *testing.T) {
	r := providertest.New(t, provider.New("test", func(string) string { return "" }), nil)
	for kind, c := range map[string]struct {
		config map[string]any
		want   string
	}{
		"koldun_bucket":       {map[string]any{"bucket_name": "bbb"}, "s3.endpoint"},
		"koldun_stream":       {map[string]any{"name": "s", "subjects": []any{"s"}}, "NATS_URL"},
		"koldun_nats_account": {map[string]any{"namespace": "team"}, "koldun_nats_account needs nats_operator: The operator of the NATS servers is not configured. Set nats_operator.url"},
		"koldun_nats_user":    {usersOf("team", "gateway"), "koldun_nats_user needs nats_operator"},
	} {
		if p := r.Resource(kind).Plan(c.config); !strings.Contains(p.Errors, c.want) {
			t.Errorf("%s: got %q, want %q", kind, p.Errors, c.want)
		}
	}
}

// TestSettingsKnownLater plans with the address of a server that the same run
// creates: the environment does not replace it, and the plan succeeds without it.
func TestSettingsKnownLater(t *testing.T) {
	env := func(string) string { return "nats://another.example" }
	r := providertest.New(t, provider.New("test", env), map[string]any{"nats": map[string]any{"url": providertest.Unknown{}}})
	x := r.Resource("koldun_key_value")
	if p := x.Plan(map[string]any{"bucket": "later"}); p.Errors != "" {
		t.Errorf("the plan fails: %s", p.Errors)
	}
	if e := x.Apply(map[string]any{"bucket": "later"}); !strings.Contains(e, "not known yet") {
		t.Errorf("apply: got error %q", e)
	}
}

func TestDataSource(t *testing.T) {
	w := start(t, nil)
	if err := w.bus.EnsureStream(t.Context(), bus.StreamSpec{Stream: names.Stream{Name: "theirs", Subjects: []string{"t.>"}, MaxBytes: 4096}}); err != nil {
		t.Fatal(err)
	}
	got, e := w.Data("koldun_stream", map[string]any{"name": "theirs"})
	if e != "" || text(got["max_bytes"]) != "4096" || text(got["subjects"]) != "[t.>]" || got["ready"] != true {
		t.Errorf("got %v %s", got, e)
	}
	if _, e := w.Data("koldun_stream", map[string]any{"name": "none"}); !strings.Contains(e, "does not exist") {
		t.Errorf("read of a missing resource: got error %q", e)
	}
}
