// Package outside builds the managed resources that several kinds compose:
// the buckets, streams and key-value buckets of the default connections.
//
// They are shared by everything in a namespace and beyond, so no composite
// owns them: they are observed and created, never deleted.
package outside

import (
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

// KeyValue is a key-value bucket whose connection goes to the Secret. Keys
// expire one by one if markers are kept.
func KeyValue(via Via, namespace, name, bucket, secret string, markers time.Duration) *managed.KeyValue {
	p := managed.KeyValueParameters{Bucket: bucket, Replicas: 1}
	if markers > 0 {
		p.LimitMarkerTTL = &metav1.Duration{Duration: markers}
	}
	return &managed.KeyValue{
		TypeMeta:   metav1.TypeMeta{APIVersion: managed.APIVersion, Kind: managed.KindKeyValue},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       managed.KeyValueSpec{ManagedResourceSpec: adopt(via, secret), ForProvider: p},
	}
}

// Markers is how long a watcher that was away can still learn that a key
// expired.
const Markers = time.Minute

// Requests is the stream of accepted requests: kept until their end, at most a
// day; a full stream refuses new ones.
func Requests(via Via, namespace, name string, maxBytes int64, replicas int32) *managed.Stream {
	return stream(via, namespace, name, managed.StreamParameters{
		Name:            names.RequestStream,
		Subjects:        []string{names.RequestSubjects},
		Discard:         "new",
		MaxBytes:        maxBytes,
		MaxAge:          &metav1.Duration{Duration: 24 * time.Hour},
		DuplicateWindow: &metav1.Duration{Duration: 2 * time.Minute},
		Replicas:        max(replicas, 1),
	})
}

// Outcomes is the stream of terminal records, kept for a day.
func Outcomes(via Via, namespace, name string, replicas int32) *managed.Stream {
	return stream(via, namespace, name, managed.StreamParameters{
		Name:            names.OutcomeStream,
		Subjects:        []string{names.OutcomeSubjects},
		Discard:         "old",
		MaxBytes:        256 << 20, // 256 MiB
		MaxAge:          &metav1.Duration{Duration: 24 * time.Hour},
		DuplicateWindow: &metav1.Duration{Duration: 2 * time.Minute},
		Replicas:        max(replicas, 1),
	})
}

func stream(via Via, namespace, name string, p managed.StreamParameters) *managed.Stream {
	return &managed.Stream{
		TypeMeta:   metav1.TypeMeta{APIVersion: managed.APIVersion, Kind: managed.KindStream},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       managed.StreamSpec{ManagedResourceSpec: adopt(via, ""), ForProvider: p},
	}
}

// Ready reports whether the composed managed resource of that name is ready,
// and if not, what it says of itself.
func Ready(c *compose.Call, name string) (compose.Readiness, string) {
	if !c.Exists(name) {
		return compose.NotReady, "it does not exist yet"
	}
	ready := c.Condition(name, "Ready")
	if ready.Status == metav1.ConditionTrue {
		return compose.Ready, ""
	}
	for _, cond := range []metav1.Condition{c.Condition(name, "Synced"), ready} {
		if cond.Status == metav1.ConditionFalse && cond.Message != "" {
			return compose.NotReady, cond.Message
		}
	}
	return compose.NotReady, "it has not been observed yet"
}
