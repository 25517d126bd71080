// Package managed builds the managed resources that several kinds compose:
// buckets, streams and key-value buckets.
//
// Other composites share the external resources, so these managed resources
// observe, create and update them, and never delete them.
package managed

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// Via names the connection of a managed resource; nil is the default one.
type Via = *v1.ProviderConfigReference

// Spec returns the spec of a managed resource on a connection. Without policies
// all actions are allowed.
func Spec(via Via, policies ...xpv2.ManagementAction) xpv2.ManagedResourceSpec {
	spec := xpv2.ManagedResourceSpec{ManagementPolicies: policies}
	if via != nil {
		spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: via.Kind, Name: via.Name}
	}
	return spec
}

// Observed returns a spec that only observes and writes the connection to the Secret.
func Observed(via Via, secret string) xpv2.ManagedResourceSpec {
	spec := Spec(via, xpv2.ManagementActionObserve)
	spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: secret}
	return spec
}

// adopt returns a spec without deletion: the external resource outlives it.
func adopt(via Via, secret string) xpv2.ManagedResourceSpec {
	spec := Spec(via, xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate)
	if secret != "" {
		spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: secret}
	}
	return spec
}

// Bucket returns a Bucket that writes its connection to the Secret. access limits
// temporary credentials in it.
func Bucket(via Via, namespace, name, bucket, secret string, access ...v1alpha1.BucketAccess) *v1alpha1.Bucket {
	return &v1alpha1.Bucket{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindBucket},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.BucketSpec{ManagedResourceSpec: adopt(via, secret), ForProvider: v1alpha1.BucketParameters{BucketName: bucket, Access: access}},
	}
}

// Member returns a ModelRecord that adds a group to the members of a model's name.
func Member(via Via, namespace, name, group string, t v1.Traffic, model string) *v1alpha1.ModelRecord {
	return &v1alpha1.ModelRecord{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindModelRecord},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.ModelRecordSpec{
			ManagedResourceSpec: Spec(via),
			ForProvider: v1alpha1.ModelRecordParameters{
				Namespace: namespace, Name: model, Group: group, Weight: t.Weight, Fallback: t.Fallback,
			},
		},
	}
}

// Record returns a ModelRecord that lists a model under a name of its own namespace, with
// the folder of its files; empty is none.
func Record(via Via, namespace, name, model, url string) *v1alpha1.ModelRecord {
	return &v1alpha1.ModelRecord{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindModelRecord},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.ModelRecordSpec{
			ManagedResourceSpec: Spec(via),
			ForProvider:         v1alpha1.ModelRecordParameters{Namespace: namespace, Name: model, ArtifactURL: url},
		},
	}
}

// KeyValue returns a KeyValue that writes its connection to the Secret.
func KeyValue(via Via, namespace, name, secret string, p v1alpha1.KeyValueParameters) *v1alpha1.KeyValue {
	return &v1alpha1.KeyValue{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindKeyValue},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.KeyValueSpec{ManagedResourceSpec: adopt(via, secret), ForProvider: p},
	}
}

// Queue returns a Queue that writes its connection to the Secret.
func Queue(via Via, namespace, name, secret string, parts v1alpha1.QueueParameters) *v1alpha1.Queue {
	return &v1alpha1.Queue{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindQueue},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.QueueSpec{ManagedResourceSpec: adopt(via, secret), ForProvider: parts},
	}
}

// Registry returns a Queue that makes the buckets in which models are listed, and others.
func Registry(via Via, namespace, name string, more ...string) *v1alpha1.Queue {
	parts := v1alpha1.QueueParameters{KeyValues: []v1alpha1.KeyValueParameters{Lasting(names.ModelsBucket)}}
	for _, bucket := range more {
		parts.KeyValues = append(parts.KeyValues, Lasting(bucket))
	}
	return Queue(via, namespace, name, "", parts)
}

// Lasting describes a key-value bucket whose keys do not expire. It leaves the
// number of replicas alone: another owner of the bucket may have set it.
func Lasting(bucket string) v1alpha1.KeyValueParameters {
	return v1alpha1.KeyValueParameters{Bucket: bucket}
}

// Expiring describes a key-value bucket whose keys expire one by one. It leaves
// the number of replicas alone.
func Expiring(bucket string) v1alpha1.KeyValueParameters {
	return v1alpha1.KeyValueParameters{Bucket: bucket, LimitMarkerTTL: &metav1.Duration{Duration: names.MarkerAge}}
}

// Responses describes the bucket of stored responses, of which maxBytes is the size.
func Responses(maxBytes int64) v1alpha1.KeyValueParameters {
	p := Expiring(names.Responses().Name)
	p.MaxBytes = limit(maxBytes)
	return p
}

// KeyValues describes the key-value buckets of every queue. With 0 replicas an existing
// bucket keeps its number, and a new one has one.
func KeyValues(replicas int32) []v1alpha1.KeyValueParameters {
	var out []v1alpha1.KeyValueParameters
	for _, b := range names.Buckets() {
		p := Lasting(b.Name)
		if b.Markers > 0 {
			p = Expiring(b.Name)
		}
		p.Replicas = replicas
		out = append(out, p)
	}
	return out
}

// Streams describes all streams of the queue. The stream of accepted requests
// refuses messages beyond maxBytes, the others drop their oldest message. With 0
// maxBytes or replicas an existing stream keeps its number, because others that share
// it may have set it; a new one has names.RequestMaxBytes and one replica.
func Streams(maxBytes int64, replicas int32) []v1alpha1.StreamParameters {
	var out []v1alpha1.StreamParameters
	for _, s := range names.Streams() {
		p := v1alpha1.StreamParameters{
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

// limit is nil for no limit: an existing stream keeps the limit that it has.
func limit[N int32 | int64](n N) *N {
	if n == 0 {
		return nil
	}
	return &n
}

// A Pending is what a composite waits for. The zero Pending is nothing.
type Pending struct {
	Reason  reason.Reason
	Message string
}

// Any reports whether there is something to wait for.
func (p Pending) Any() bool { return p.Message != "" }

// refused reports whether the namespace of a composed managed resource may not use
// its ClusterProviderConfig.
func refused(c *compose.Call, name string) bool {
	return c.Condition(name, "Ready").Reason == v1alpha1.ReasonNamespaceNotAllowed
}

// Ready reports whether the composed managed resource of a name is ready. trouble
// is the message of its failed condition, "" if it only does not exist yet.
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

// Await composes managed resources under their names. If some are not ready,
// pending is the trouble of the first one that has any, or else a text that does
// not change while one after the other becomes ready.
func Await(c *compose.Call, desired map[string]any) (pending Pending, err error) {
	waiting := false
	for _, name := range slices.Sorted(maps.Keys(desired)) {
		ready, trouble := Ready(c, name)
		if err := c.Desire(name, desired[name], ready); err != nil {
			return Pending{}, err
		}
		waiting = waiting || !bool(ready)
		if trouble != "" && !pending.Any() {
			pending = Pending{reason.ConnectionPending, fmt.Sprintf("Composed resource %q is not ready: %s", name, trouble)}
			if refused(c, name) {
				pending.Reason = reason.NamespaceNotAllowed
			}
		}
	}
	if waiting && !pending.Any() {
		pending = Pending{reason.ConnectionPending, "The connections to the queue and the object store are being prepared"}
	}
	return pending, nil
}
