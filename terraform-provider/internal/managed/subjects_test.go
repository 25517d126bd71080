package managed_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

// fresh is the placeholder of a unique name in the values of subjects.
const fresh = "fresh-name"

// filled is the bucket of a test's object store with the files of a model.
const filled = "bucket-with-a-model"

// origin and commit are those of its model.
const (
	origin = "hf://org/tiny"
	commit = "0123456789abcdef0123456789abcdef01234567"
)

// A subject is a resource to permute.
type subject struct {
	start    func(*testing.T) *world  // nil: without a cluster
	prepare  func(*world, *testing.T) // before each creation; nil: nothing
	base     map[string]any
	identity []string // in the order of the id
	places   []string // optional parts of the id
	samples  providertest.Samples
	// partial reports that readiness depends on attributes that no import can read.
	partial bool
	// inside lists attributes that control operations and are not stored on the
	// external resource: no import can read them.
	inside []string
}

// subjects returns a subject for each resource of a managed kind.
func subjects() map[string]subject {
	wait := []any{map[string]any{}, map[string]any{"until": "ready"}}
	limits := []any{map[string]any{}, map[string]any{"create": "10m"}}
	inside := []string{"wait", "timeouts"}
	// A single server has no cluster for the placement.
	alone, nowhere := []any{0, 1}, []any{map[string]any{}, map[string]any{"tags": []any{}}}
	return map[string]subject{
		"koldun_stream": {
			base: map[string]any{"name": fresh, "subjects": []any{fresh + ".>"}}, identity: []string{"name"}, inside: inside,
			samples: providertest.Samples{
				"wait": wait, "timeouts": limits, "write_secret_to": nil, "replicas": {1}, "placement": nowhere, "max_age": {"1h", "3600s", "10m"},
				"duplicate_window": {"1m", "120s", "5m"}, "discard": {"old", "new"}, "max_bytes": {0, 1 << 20}, "max_msg_size": {0, 4096},
			},
		},
		"koldun_key_value": {
			base: map[string]any{"bucket": fresh}, identity: []string{"bucket"}, inside: inside,
			samples: providertest.Samples{
				"wait": wait, "timeouts": limits, "write_secret_to": nil, "replicas": {1}, "placement": nowhere, "limit_marker_ttl": {"60s", "1h"}, "ttl": {"24h", "86400s"},
				"history": {1, 3, 64},
			},
		},
		"koldun_consumer": {
			base: map[string]any{"stream": "of-consumers", "name": fresh}, identity: []string{"stream", "name"}, inside: inside,
			samples: providertest.Samples{
				"wait": wait, "timeouts": limits, "write_secret_to": nil, "replicas": alone, "filter_subjects": {[]any{}, []any{"c.a"}, []any{"c.a", "c.b"}},
				"deliver_policy": {"All", "New"}, "start_sequence": nil, "start_time": nil, "ack_wait": {"30s", "2m"},
				"backoff": {[]any{}, []any{"1s", "60s"}}, "max_deliver": {0, 5}, "inactive_threshold": {"60m", "1h30m"},
			},
		},
		"koldun_token": {
			base: map[string]any{"name": fresh, "secret_wo": "a-secret-word-of-" + fresh}, identity: []string{"name"}, inside: append(inside, "overlap"),
			samples: providertest.Samples{
				"wait": wait, "timeouts": limits, "write_secret_to": nil, "rotate_after": nil, "sha256": nil, "overlap": {"10m", "600s"},
				"bucket": {names.TokensBucket}, "prefix": {names.TokenKey("")},
				"expires": {"2101-01-31T00:00:00Z", "2101-01-31T01:00:00+01:00"}, "models": {[]any{}, []any{"ns/a", "ns/*"}},
			},
		},
		"koldun_token in another bucket": {
			base:     map[string]any{"name": fresh, "sha256": strings.Repeat("a", 64), "bucket": "settings", "prefix": "tokens-"},
			identity: []string{"name"}, places: []string{"bucket", "prefix"}, inside: append(inside, "overlap"),
			samples: providertest.Samples{
				"wait": wait, "timeouts": limits, "write_secret_to": nil, "rotate_after": nil, "overlap": {"10m"},
				"expires": {"2101-01-31T00:00:00Z"}, "models": {[]any{}, []any{"ns/a"}},
			},
		},
		"koldun_bucket": {
			base: map[string]any{"bucket_name": fresh}, identity: []string{"bucket_name"}, inside: append(inside, "force_destroy", "abort_uploads_after_days"),
			// The server supports neither versioning nor lifecycle rules.
			samples: providertest.Samples{
				"wait": wait, "timeouts": limits, "write_secret_to": nil, "versioning": nil, "lifecycle_rules": nil,
				"tags":   {map[string]any{}, map[string]any{"team": "a"}, map[string]any{"team": "b", "cost": ""}},
				"policy": {`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::` + fresh + `/*"}]}`},
			},
		},
		"koldun_model_record": {
			base: map[string]any{"namespace": "ns", "name": fresh}, identity: []string{"namespace", "name"}, inside: inside,
			samples: providertest.Samples{"wait": wait, "timeouts": limits, "artifact_url": {""}, "size_bytes": {0, 4096}, "weights": {"q40"}, "group": nil, "weight": nil, "fallback": nil},
		},
		"koldun_model_record of a member": {
			base: map[string]any{"namespace": "ns", "name": "shared", "group": fresh}, identity: []string{"namespace", "name"}, places: []string{"group"}, inside: inside,
			samples: providertest.Samples{"wait": wait, "timeouts": limits, "artifact_url": nil, "size_bytes": nil, "weights": nil, "weight": {0, 100, 250}},
		},
		"koldun_model_artifact": {
			prepare: (*world).model, // a deletion deletes the files
			base:    map[string]any{"url": "s3://" + filled + "/tiny", "timeouts": map[string]any{"create": "1m"}}, identity: []string{"url"}, inside: append(inside, "progress_key", "verify", "source", "commit"),
			samples: providertest.Samples{"wait": wait, "progress_key": {"fetch.tiny"}, "verify": {"", "once"}, "source": {"", origin}, "commit": {"", commit}},
		},
		"koldun_node_label_rule": {
			start: startWithNode, partial: true,
			base: map[string]any{"name": fresh, "labels": map[string]any{"example.org/" + fresh: "a"}}, identity: []string{"name"}, inside: append(inside, "match_expressions", "match_labels", "capacity", "node_info", "priority"),
			samples: providertest.Samples{"wait": wait, "timeouts": limits, "match_labels": {map[string]any{}, map[string]any{"koldun.test/permuted": "yes"}}, "capacity": {map[string]any{}}, "node_info": {map[string]any{}}, "match_expressions": {
				[]any{},
				[]any{map[string]any{"key": "koldun.test/permuted", "operator": "Exists"}},
				[]any{map[string]any{"key": "koldun.test/permuted", "operator": "In", "values": []any{"yes", "no"}}, map[string]any{"key": "none", "operator": "DoesNotExist", "values": []any{}}},
			}},
		},
		"koldun_nats_account": {
			start: func(t *testing.T) *world {
				t.Helper()
				return start(t, map[string]any{"nats_operator": operate(t).block})
			},
			base: map[string]any{"namespace": fresh}, identity: []string{"namespace"}, inside: append(inside, "revoke_before", "overlap", "purge"),
			samples: providertest.Samples{
				"wait": wait, "timeouts": limits, "disk_bytes": {1 << 20, 2 << 20}, "revoke_before": {"2020-01-31T00:00:00Z", "2020-01-31T01:00:00+01:00"},
				"overlap": {"0s", "2m", "120s"},
			},
		},
		"koldun_nats_user": {
			start: startWithAccount, partial: true,
			base: map[string]any{
				"namespace": "default", "name": fresh, "users": []any{map[string]any{"name": "gateway", "role": "gateway"}}, "write_secret_to": map[string]any{"name": fresh},
			},
			identity: []string{"namespace", "name"}, inside: append(inside, "users", "write_secret_to", "lifetime", "revoke_before", "overlap"),
			samples: providertest.Samples{
				"wait": wait, "timeouts": limits, "lifetime": {"10m", "24h", "1440m"}, "revoke_before": {"2020-01-31T00:00:00Z"}, "overlap": {"0s", "2m", "120s"},
			},
		},
		"koldun_key_value_entry": {
			base: map[string]any{"bucket": "settings", "key": fresh, "value": "v"}, identity: []string{"bucket", "key"}, inside: []string{"value"},
			samples: providertest.Samples{"value_wo_version": nil},
		},
		"koldun_key_value_entry with a secret": {
			base: map[string]any{"bucket": "settings", "key": fresh, "value_wo": "a-secret-word", "value_wo_version": 1}, identity: []string{"bucket", "key"}, inside: []string{"value_wo", "value_wo_version"},
			samples: providertest.Samples{"value": nil},
		},
	}
}

// startWithNode returns a world with a cluster that has a node.
func startWithNode(t *testing.T) *world {
	t.Helper()
	w, _ := startWithSafe(t, nil)
	core, err := typedcorev1.NewForConfig(shared.Cluster(t).Config())
	if err != nil {
		t.Fatal(err)
	}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "permuted-", Labels: map[string]string{"koldun.test/permuted": "yes"}}}
	if n, err = core.Nodes().Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := core.Nodes().Delete(context.WithoutCancel(t.Context()), n.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return w
}

// startWithAccount returns a world with a cluster and the account of its default
// namespace.
func startWithAccount(t *testing.T) *world {
	t.Helper()
	w, _, o := startOperated(t)
	if err := o.Accounts().Ensure(t.Context(), metav1.NamespaceDefault, natsauth.Limits{}); err != nil {
		t.Fatal(err)
	}
	return w
}

// model writes the files of a converted model.
func (w *world) model(t *testing.T) {
	t.Helper()
	store := w.s3.Store(t, "tiny")
	const file = "dllama_model_tiny_q40.m"
	if err := store.Put(t.Context(), file, []byte("weights")); err != nil {
		t.Fatal(err)
	}
	m := manifest.Manifest{
		Kind: manifest.Converted, Name: "tiny", Weights: "q40", Origin: manifest.Origin{Source: origin, Commit: commit},
		Files: []manifest.File{{Path: file, Size: int64(len("weights")), SHA256: token.Digest("weights")}},
	}
	if err := manifest.Save(t.Context(), store, m); err != nil {
		t.Fatal(err)
	}
}
