package managed_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/terraform-provider/internal/provider"
	"github.com/gorizond/koldun/terraform-provider/internal/rig"
)

func TestMain(m *testing.M) { s3test.Main(m) }

// world is a provider with a NATS server and an object store of its own.
type world struct {
	*rig.Rig
	nats *natstest.Server
	s3   *s3test.Bucket
	bus  *bus.Bus
}

func start(t testing.TB, more map[string]any) *world {
	t.Helper()
	w := &world{nats: natstest.Start(t), s3: s3test.New(t)}
	p := provider.New("test", func(string) string { return "" })
	t.Cleanup(p.Close)
	config := map[string]any{
		"nats": map[string]any{"url": w.nats.URL(), "user": natstest.User, "password": natstest.Password},
		"s3":   map[string]any{"endpoint": w.s3.Config.Endpoint, "region": w.s3.Config.Region, "access_key": w.s3.Config.AccessKey, "secret_key": w.s3.Config.SecretKey},
	}
	for k, v := range more {
		config[k] = v
	}
	w.Rig = rig.New(t, p, config)
	b, err := bus.Connect(t.Context(), bus.Config{URL: w.nats.URL(), User: natstest.User, Password: natstest.Password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	w.bus = b
	return w
}

// A choice is one optional attribute with the values it may be given; nil is
// leaving it out.
type choice struct {
	attribute string
	values    []any
}

// permutations are all combinations of the choices, over a base.
func permutations(base map[string]any, choices []choice) []map[string]any {
	out := []map[string]any{base}
	for _, c := range choices {
		var next []map[string]any
		for _, m := range out {
			for _, v := range c.values {
				n := map[string]any{}
				for k, x := range m {
					n[k] = x
				}
				if v != nil {
					n[c.attribute] = v
				}
				next = append(next, n)
			}
		}
		out = next
	}
	return out
}

// kinds are the resources with a base configuration, in which %s stands for a
// fresh name, their identity and all that is optional.
func kinds() map[string]struct {
	base    map[string]any
	id      string
	choices []choice
} {
	return map[string]struct {
		base    map[string]any
		id      string
		choices []choice
	}{
		"koldun_stream": {
			base: map[string]any{"name": "%s", "subjects": []any{"%s.>"}}, id: "name",
			choices: []choice{
				{"discard", []any{nil, "new"}},
				{"max_bytes", []any{nil, 1 << 20}},
				{"max_msgs_per_subject", []any{nil, 5}},
				{"max_age", []any{nil, "1h", "3600s"}},
				{"duplicate_window", []any{nil, "1m", "120s"}},
				{"replicas", []any{nil, 1}},
			},
		},
		"koldun_key_value": {
			base: map[string]any{"bucket": "%s"}, id: "bucket",
			choices: []choice{
				{"limit_marker_ttl", []any{nil, "60s", "1h"}}, {"replicas", []any{nil, 1}}, {"history", []any{nil, 3}},
				{"ttl", []any{nil, "24h"}}, {"max_value_size", []any{nil, 0, 1024}}, {"max_bytes", []any{nil, 1 << 20}},
			},
		},
		"koldun_consumer": {
			base: map[string]any{"stream": "of-consumers", "name": "%s"}, id: "stream/name",
			choices: []choice{
				{"filter_subjects", []any{nil, []any{}, []any{"c.a"}, []any{"c.a", "c.b"}}}, {"deliver_policy", []any{nil, "New"}},
				{"ack_wait", []any{nil, "30s"}}, {"max_deliver", []any{nil, 3}}, {"backoff", []any{nil, []any{"1s", "1m"}}}, {"inactive_threshold", []any{nil, "60m"}},
			},
		},
		"koldun_token": {
			base: map[string]any{"name": "%s"}, id: "name",
			choices: []choice{
				{"secret_wo", []any{"a-secret-word-of-%s"}}, {"models", []any{nil, []any{}, []any{"ns/a", "ns/*"}}}, {"metadata", []any{nil, map[string]any{}, map[string]any{"team": "a"}}},
				{"expires", []any{nil, "2101-01-31T00:00:00Z", "2101-01-31T01:00:00+01:00"}}, {"disabled", []any{nil, true}}, {"requests_per_minute", []any{nil, 60}},
			},
		},
		"koldun_bucket": {
			base: map[string]any{"bucket_name": "%s"}, id: "bucket_name",
			choices: []choice{{"force_destroy", []any{nil, false, true}}},
		},
	}
}

// named fills in the name.
func named(v any, name string) any {
	switch x := v.(type) {
	case string:
		return strings.ReplaceAll(x, "%s", name)
	case []any:
		out := []any{}
		for _, e := range x {
			out = append(out, named(e, name))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range x {
			out[k] = named(e, name)
		}
		return out
	}
	return v
}

// TestEveryPermutation creates each resource with every combination of
// optional attributes: plans after apply, refresh and import are empty.
func TestEveryPermutation(t *testing.T) {
	w := start(t, nil)
	if err := w.bus.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.bus.EnsureStream(t.Context(), bus.StreamSpec{Stream: names.Stream{Name: "of-consumers", Subjects: []string{"c.*"}}}); err != nil {
		t.Fatal(err)
	}
	for kind, k := range kinds() {
		t.Run(kind, func(t *testing.T) {
			for i, c := range permutations(k.base, k.choices) {
				name := fmt.Sprintf("perm-%d", i)
				config, _ := named(c, name).(map[string]any)
				r := w.Resource(kind)
				if e := r.Apply(config); e != "" {
					t.Fatalf("%v: %s", config, e)
				}
				if r.Attribute("ready") != true || r.Warnings != "" {
					t.Fatalf("%v is not ready: %v %s", config, rig.JSON(r.State), r.Warnings)
				}
				r.Settled(config)
				identity, id := map[string]any{k.id: name}, name
				if k.id == "stream/name" {
					identity, id = map[string]any{"stream": "of-consumers", "name": name}, "of-consumers/"+name
				}
				for _, imported := range []*rig.Resource{w.Import(kind, id), w.ImportIdentity(kind, identity)} {
					if got := fmt.Sprint(imported.Identity()); got != fmt.Sprint(identity) {
						t.Errorf("the identity is %s", got)
					}
					if config["force_destroy"] == true || config["ack_wait"] != nil {
						continue // what is said of deletion, or left to the server, cannot be told
					}
					imported.Settled(config)
				}
				if e := r.Destroy(); e != "" {
					t.Fatalf("%v: %s", config, e)
				}
				if t.Failed() {
					t.Fatalf("with %v", config)
				}
			}
		})
	}
}

func text(v any) string { return fmt.Sprint(v) }
