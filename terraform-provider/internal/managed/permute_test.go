package managed_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/terraform-provider/internal/rig"
)

// fresh stands for a name of its own in the values of subjects.
const fresh = "fresh-name"

// A subject is a resource to permute.
type subject struct {
	base     map[string]any
	identity []string // in the order of the id
	samples  rig.Samples
	// inside are attributes that say what to do with a thing, and do not stand on
	// it: no import can tell them.
	inside []string
}

// subjects are all resources whose things are made anew for each permutation.
func subjects() map[string]subject {
	wait := []any{map[string]any{}, map[string]any{"for": "ready"}}
	limits := []any{map[string]any{}, map[string]any{"create": "10m"}}
	inside := []string{"wait", "timeouts"}
	// A server of its own is no cluster.
	alone, nowhere := []any{0, 1}, []any{map[string]any{}, map[string]any{"tags": []any{}}}
	return map[string]subject{
		"koldun_stream": {
			base: map[string]any{"name": fresh, "subjects": []any{fresh + ".>"}}, identity: []string{"name"}, inside: inside,
			samples: rig.Samples{
				"wait": wait, "timeouts": limits, "write_secret_to": nil, "replicas": {1}, "placement": nowhere, "max_age": {"1h", "3600s", "10m"},
				"duplicate_window": {"1m", "120s", "5m"}, "discard": {"old", "new"}, "max_bytes": {0, 1 << 20}, "max_msg_size": {0, 4096},
			},
		},
		"koldun_key_value": {
			base: map[string]any{"bucket": fresh}, identity: []string{"bucket"}, inside: inside,
			samples: rig.Samples{
				"wait": wait, "timeouts": limits, "write_secret_to": nil, "replicas": {1}, "placement": nowhere, "limit_marker_ttl": {"60s", "1h"}, "ttl": {"24h", "86400s"},
				"history": {1, 3, 64},
			},
		},
		"koldun_consumer": {
			base: map[string]any{"stream": "of-consumers", "name": fresh}, identity: []string{"stream", "name"}, inside: inside,
			samples: rig.Samples{
				"wait": wait, "timeouts": limits, "write_secret_to": nil, "replicas": alone, "filter_subjects": {[]any{}, []any{"c.a"}, []any{"c.a", "c.b"}},
				"deliver_policy": {"All", "New"}, "start_sequence": nil, "start_time": nil, "ack_wait": {"30s", "2m"},
				"backoff": {[]any{}, []any{"1s", "60s"}}, "max_deliver": {0, 5}, "inactive_threshold": {"60m", "1h30m"},
			},
		},
		"koldun_token": {
			base: map[string]any{"name": fresh, "secret_wo": "a-secret-word-of-" + fresh}, identity: []string{"name"}, inside: append(inside, "overlap"),
			samples: rig.Samples{
				"wait": wait, "timeouts": limits, "write_secret_to": nil, "rotate_after": nil, "sha256": nil, "bucket": nil, "prefix": nil, "overlap": {"10m", "600s"},
				"expires": {"2101-01-31T00:00:00Z", "2101-01-31T01:00:00+01:00"}, "models": {[]any{}, []any{"ns/a", "ns/*"}},
			},
		},
		"koldun_bucket": {
			base: map[string]any{"bucket_name": fresh}, identity: []string{"bucket_name"}, inside: append(inside, "force_destroy", "abort_uploads_after_days"),
			// The server has no versions and no lifecycle rules.
			samples: rig.Samples{
				"wait": wait, "timeouts": limits, "write_secret_to": nil, "versioning": nil, "lifecycle_rules": nil,
				"tags":   {map[string]any{}, map[string]any{"team": "a"}, map[string]any{"team": "b", "cost": ""}},
				"policy": {`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::` + fresh + `/*"}]}`},
			},
		},
		"koldun_model_record": {
			base: map[string]any{"namespace": "ns", "name": fresh}, identity: []string{"namespace", "name"}, inside: inside,
			samples: rig.Samples{"wait": wait, "timeouts": limits, "artifact_url": {""}, "size_bytes": {0, 4096}, "weights": {"q40"}},
		},
	}
}

// TestEveryPermutation creates each resource with optional attributes that are
// left out, empty and set: plans after apply, refresh and import are empty.
func TestEveryPermutation(t *testing.T) {
	for kind, s := range subjects() {
		t.Run(kind, func(t *testing.T) {
			w := start(t, nil)
			if err := w.bus.Ensure(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := w.bus.EnsureStream(t.Context(), bus.StreamSpec{Stream: names.Stream{Name: "of-consumers", Subjects: []string{"c.*"}}}); err != nil {
				t.Fatal(err)
			}
			for i, c := range w.Resource(kind).Permutations(s.base, s.samples, 40) {
				config, _ := named(c, fmt.Sprintf("perm-%d", i)).(map[string]any)
				if pauses, _ := config["backoff"].([]any); len(pauses) > 0 {
					delete(config, "ack_wait") // a server has the pauses in its place
				}
				if w.permute(t, kind, s, config); t.Failed() {
					t.Fatalf("with %v", config)
				}
			}
		})
	}
}

func (w *world) permute(t *testing.T, kind string, s subject, config map[string]any) {
	t.Helper()
	r := w.Resource(kind)
	if e := r.Apply(config); e != "" {
		t.Fatalf("%v: %s", config, e)
	}
	if r.Attribute("ready") != true || r.Warnings != "" {
		t.Fatalf("%v is not ready: %v %s", config, rig.JSON(r.State), r.Warnings)
	}
	r.Settled(config)
	identity, parts := map[string]any{}, []string{}
	for _, a := range s.identity {
		identity[a] = config[a]
		parts = append(parts, text(config[a]))
	}
	for _, imported := range []*rig.Resource{w.Import(kind, strings.Join(parts, "/")), w.ImportIdentity(kind, identity)} {
		if got := fmt.Sprint(imported.Identity()); got != fmt.Sprint(identity) {
			t.Errorf("the identity is %s", got)
		}
		outside := maps.Clone(config)
		maps.DeleteFunc(outside, func(a string, _ any) bool { return slices.Contains(s.inside, a) })
		imported.Settled(outside)
		if p := imported.Plan(config); len(p.Replace) > 0 {
			t.Errorf("after the import the plan replaces for %v", p.Replace)
		}
	}
	if e := r.Destroy(); e != "" {
		t.Fatalf("%v: %s", config, e)
	}
}

// named fills in the name.
func named(v any, name string) any {
	switch x := v.(type) {
	case string:
		return strings.ReplaceAll(x, fresh, name)
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
