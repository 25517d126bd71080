package managed_test

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

const ingress = "apiVersion: koldun.gorizond.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: ns}\n"

func TestAwait(t *testing.T) {
	const (
		failed = "status: {conditions: [{type: Ready, status: 'False', message: not there}]}"
		synced = "status: {conditions: [{type: Synced, status: 'False', message: no rights}, {type: Ready, status: 'False', message: not there}]}"
		silent = "status: {conditions: [{type: Synced, status: 'True', message: fine}, {type: Ready, status: 'False'}]}"
	)
	cases := map[string]struct {
		a, b string // observed
		want string
	}{
		"None":        {"{}", "{}", "The connections to the queue and the object store are being prepared"},
		"One":         {composetest.Ready, "{}", "The connections to the queue and the object store are being prepared"},
		"Both":        {composetest.Ready, composetest.Ready, ""},
		"Trouble":     {"{}", failed, `Composed resource "b" is not ready: not there`},
		"SyncedFirst": {"{}", synced, `Composed resource "b" is not ready: no rights`},
		"FirstOfTwo":  {failed, synced, `Composed resource "a" is not ready: not there`},
		"Silent":      {silent, composetest.Ready, "The connections to the queue and the object store are being prepared"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var pending managed.Pending
			rsp := composetest.Run(t, func(call *compose.Call) (err error) {
				pending, err = managed.Await(call, map[string]any{"a": managed.Bucket(nil, "ns", "a", "x", ""), "b": managed.Bucket(nil, "ns", "b", "y", "s")})
				return err
			}, composetest.Case{Composite: ingress, Observed: map[string]string{"a": c.a, "b": c.b}})
			if pending.Message != c.want || pending.Any() != (pending.Reason == reason.ConnectionPending) {
				t.Errorf("pending is %+v, want %q", pending, c.want)
			}
			if ready := rsp.GetDesired().GetResources()["a"].GetReady() == 1; ready == (c.a != composetest.Ready) {
				t.Errorf("a is ready: %v", ready)
			}
		})
	}
	composetest.Run(t, func(call *compose.Call) error {
		if _, err := managed.Await(call, map[string]any{"a": make(chan int)}); err == nil {
			t.Error("a channel is composed")
		}
		return nil
	}, composetest.Case{Composite: ingress})
}

func TestResources(t *testing.T) {
	via := &v1.ProviderConfigReference{Kind: "ProviderConfig", Name: "p"}
	b := managed.Bucket(via, "ns", "n", "bucket", "s")
	want := xpv2.ManagementPolicies{"Observe", "Create", "Update"}
	if d := cmp.Diff(want, b.Spec.ManagementPolicies); d != "" || b.Spec.ProviderConfigReference.Name != "p" || b.Spec.ProviderConfigReference.Kind != "ProviderConfig" || b.Spec.WriteConnectionSecretToReference.Name != "s" || b.Spec.ForProvider.BucketName != "bucket" {
		t.Errorf("the Bucket is %+v:\n%s", b.Spec, d)
	}
	k := managed.KeyValue(nil, "ns", "n", "", managed.Expiring("kv"))
	if k.Spec.ProviderConfigReference != nil || k.Spec.WriteConnectionSecretToReference != nil || k.Spec.ForProvider.Bucket != "kv" || k.Spec.ForProvider.LimitMarkerTTL.Duration != names.MarkerAge || k.Kind != v1alpha1.KindKeyValue {
		t.Errorf("the KeyValue is %+v", k)
	}
	if got := managed.Lasting("kv"); got.LimitMarkerTTL != nil || got.Bucket != "kv" {
		t.Errorf("a lasting bucket is %+v", got)
	}
	q := managed.Queue(nil, "ns", "n", "s", v1alpha1.QueueParameters{KeyValues: managed.KeyValues(0)})
	if q.Kind != v1alpha1.KindQueue || len(q.Spec.ForProvider.KeyValues) != len(names.Buckets()) {
		t.Errorf("the Queue is %+v", q)
	}
}

// TestKeyValues compares with the table of package names: keys expire only in the
// buckets that announce it.
func TestKeyValues(t *testing.T) {
	expires := map[bool]int{}
	for i, g := range managed.KeyValues(0) {
		b := names.Buckets()[i]
		if g.Bucket != b.Name || (g.LimitMarkerTTL != nil) != (b.Markers > 0) {
			t.Errorf("bucket %q is %+v", b.Name, g)
		}
		expires[g.LimitMarkerTTL != nil]++
	}
	if len(expires) != 2 {
		t.Errorf("buckets by whether keys expire: got %v, want some of each", expires)
	}
}

// TestStreams compares with the table of package names.
func TestStreams(t *testing.T) {
	got := managed.Streams(5, 3)
	for i, s := range names.Streams() {
		g := got[i]
		bytes := s.MaxBytes
		if s.Name == names.RequestStream {
			bytes = 5
		}
		discard := "old"
		if s.DiscardNew {
			discard = "new"
		}
		if g.Name != s.Name || *g.MaxBytes != bytes || g.Discard != discard || g.MaxAge.Duration != s.MaxAge || g.Replicas != 3 ||
			(g.MaxMsgs == nil) != (s.MaxMsgs == 0) || (g.MaxMsgSize == nil) != (s.MaxMsgSize == 0) || (g.MaxMsgsPerSubject == nil) != (s.MaxPerSubject == 0) {
			t.Errorf("stream %q is %+v, want %+v", s.Name, g, s)
		}
		if want := max(s.Dedupe, 2*60*1e9); g.DuplicateWindow.Duration != want {
			t.Errorf("stream %q has a window of %v, want %v", s.Name, g.DuplicateWindow.Duration, want)
		}
	}
}
