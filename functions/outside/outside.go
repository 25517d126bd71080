// Package outside builds the managed resources that several kinds compose:
// the buckets, streams and key-value buckets of the default connections.
//
// They are shared by everything in a namespace and beyond, so no composite
// owns them: they are observed and created, never deleted.
package outside

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	managed "github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/internal/names"
)

// Via is the connection that a managed resource uses; nil is the default one.
type Via = *v1.ProviderConfigReference

// Managed is the spec of a managed resource on a connection. Without policies
// it is managed in full.
func Managed(via Via, policies ...xpv2.ManagementAction) xpv2.ManagedResourceSpec {
	spec := xpv2.ManagedResourceSpec{ManagementPolicies: policies}
	if via != nil {
		spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: via.Kind, Name: via.Name}
	}
	return spec
}

// adopt leaves the outside thing in place when the resource goes.
func adopt(via Via, secret string) xpv2.ManagedResourceSpec {
	spec := Managed(via, xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate)
	if secret != "" {
		spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: secret}
	}
	return spec
}

// Bucket is an S3 bucket whose connection goes to the Secret. It is made if it
// does not exist.
func Bucket(via Via, namespace, name, bucket, secret string) *managed.Bucket {
	return &managed.Bucket{
		TypeMeta:   metav1.TypeMeta{APIVersion: managed.APIVersion, Kind: managed.KindBucket},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       managed.BucketSpec{ManagedResourceSpec: adopt(via, secret), ForProvider: managed.BucketParameters{BucketName: bucket}},
	}
}

// KeyValue is a key-value bucket whose connection goes to the Secret.
func KeyValue(via Via, namespace, name, secret string, p managed.KeyValueParameters) *managed.KeyValue {
	return &managed.KeyValue{
		TypeMeta:   metav1.TypeMeta{APIVersion: managed.APIVersion, Kind: managed.KindKeyValue},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       managed.KeyValueSpec{ManagedResourceSpec: adopt(via, secret), ForProvider: p},
	}
}

// Queue is streams and key-value buckets whose connection goes to the Secret.
func Queue(via Via, namespace, name, secret string, parts managed.QueueParameters) *managed.Queue {
	return &managed.Queue{
		TypeMeta:   metav1.TypeMeta{APIVersion: managed.APIVersion, Kind: managed.KindQueue},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       managed.QueueSpec{ManagedResourceSpec: adopt(via, secret), ForProvider: parts},
	}
}

// Lasting is a key-value bucket that keeps what is put into it. It has as many
// copies as it has: others share it, and may have asked for more than one.
func Lasting(bucket string) managed.KeyValueParameters {
	return managed.KeyValueParameters{Bucket: bucket}
}

// Expiring is a key-value bucket whose keys expire one by one. It has as many
// copies as it has.
func Expiring(bucket string) managed.KeyValueParameters {
	return managed.KeyValueParameters{Bucket: bucket, LimitMarkerTTL: &metav1.Duration{Duration: names.MarkerAge}}
}

// KeyValues are all key-value buckets.
func KeyValues() []managed.KeyValueParameters {
	var out []managed.KeyValueParameters
	for _, b := range names.Buckets() {
		if b.Markers > 0 {
			out = append(out, Expiring(b.Name))
		} else {
			out = append(out, Lasting(b.Name))
		}
	}
	return out
}

// Streams are all streams: that of accepted requests refuses what exceeds
// maxBytes, the others drop their oldest. Without replicas, which is 0, an
// existing stream has as many copies as it has, and a new one has one.
func Streams(maxBytes int64, replicas int32) []managed.StreamParameters {
	var out []managed.StreamParameters
	for _, s := range names.Streams() {
		p := managed.StreamParameters{
			Name:              s.Name,
			Subjects:          s.Subjects,
			Discard:           "old",
			MaxBytes:          limit(s.MaxBytes),
			MaxMsgs:           limit(s.MaxMsgs),
			MaxMsgSize:        limit(s.MaxMsgSize),
			MaxMsgsPerSubject: limit(s.MaxPerSubject),
			MaxAge:            &metav1.Duration{Duration: s.MaxAge},
			DuplicateWindow:   &metav1.Duration{Duration: cmp.Or(s.Dedupe, 2*time.Minute)},
			Replicas:          replicas,
		}
		if s.DiscardNew {
			p.Discard = "new"
		}
		if s.Name == names.RequestStream {
			p.MaxBytes = limit(maxBytes)
		}
		out = append(out, p)
	}
	return out
}

// limit is nil for no limit: one that somebody gave an existing stream stays.
func limit[N int32 | int64](n N) *N {
	if n == 0 {
		return nil
	}
	return &n
}

// Ready reports whether the composed managed resource of that name is ready,
// and if not, what is wrong with it; nothing is wrong with one that is only
// not there yet.
func Ready(c *compose.Call, name string) (ready compose.Readiness, trouble string) {
	state := c.Condition(name, "Ready")
	if state.Status == metav1.ConditionTrue {
		return compose.Ready, ""
	}
	for _, cond := range []metav1.Condition{c.Condition(name, "Synced"), state} {
		if cond.Status == metav1.ConditionFalse && cond.Message != "" {
			return compose.NotReady, cond.Message
		}
	}
	return compose.NotReady, ""
}

// Await composes managed resources under their names. It returns what to wait
// for, if some are not ready: the first with a trouble, or all alike, so that
// the words do not change with each that becomes ready.
func Await(c *compose.Call, desired map[string]any) (pending string, err error) {
	waiting := false
	for _, name := range slices.Sorted(maps.Keys(desired)) {
		ready, trouble := Ready(c, name)
		if err := c.Desire(name, desired[name], ready); err != nil {
			return "", err
		}
		waiting = waiting || !bool(ready)
		if trouble != "" && pending == "" {
			pending = fmt.Sprintf("Composed resource %q is not ready: %s", name, trouble)
		}
	}
	if waiting && pending == "" {
		pending = "The connections to the queue and the object store are being prepared"
	}
	return pending, nil
}
