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

	managed "github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/internal/names"
)

// adopt leaves the outside thing in place when the resource goes.
func adopt(secret string) xpv2.ManagedResourceSpec {
	spec := xpv2.ManagedResourceSpec{
		ManagementPolicies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate},
	}
	if secret != "" {
		spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: secret}
	}
	return spec
}

// Bucket is an S3 bucket whose connection goes to the Secret.
func Bucket(namespace, name, bucket, secret string) *managed.Bucket {
	return &managed.Bucket{
		TypeMeta:   metav1.TypeMeta{APIVersion: managed.APIVersion, Kind: managed.KindBucket},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       managed.BucketSpec{ManagedResourceSpec: adopt(secret), ForProvider: managed.BucketParameters{BucketName: bucket}},
	}
}

// KeyValue is a key-value bucket whose connection goes to the Secret. Keys
// expire one by one if markers are kept.
func KeyValue(namespace, name, bucket, secret string, markers time.Duration) *managed.KeyValue {
	p := managed.KeyValueParameters{Bucket: bucket, Replicas: 1}
	if markers > 0 {
		p.LimitMarkerTTL = &metav1.Duration{Duration: markers}
	}
	return &managed.KeyValue{
		TypeMeta:   metav1.TypeMeta{APIVersion: managed.APIVersion, Kind: managed.KindKeyValue},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       managed.KeyValueSpec{ManagedResourceSpec: adopt(secret), ForProvider: p},
	}
}

// Markers is how long a watcher that was away can still learn that a key
// expired.
const Markers = time.Minute

// Requests is the stream of accepted requests: kept until their end, at most a
// day; a full stream refuses new ones.
func Requests(namespace, name string) *managed.Stream {
	return stream(namespace, name, managed.StreamParameters{
		Name:            names.RequestStream,
		Subjects:        []string{names.RequestSubjects},
		Discard:         "new",
		MaxBytes:        1 << 30, // 1 GiB
		MaxAge:          &metav1.Duration{Duration: 24 * time.Hour},
		DuplicateWindow: &metav1.Duration{Duration: 2 * time.Minute},
		Replicas:        1,
	})
}

// Outcomes is the stream of terminal records, kept for a day.
func Outcomes(namespace, name string) *managed.Stream {
	return stream(namespace, name, managed.StreamParameters{
		Name:            names.OutcomeStream,
		Subjects:        []string{names.OutcomeSubjects},
		Discard:         "old",
		MaxBytes:        256 << 20, // 256 MiB
		MaxAge:          &metav1.Duration{Duration: 24 * time.Hour},
		DuplicateWindow: &metav1.Duration{Duration: 2 * time.Minute},
		Replicas:        1,
	})
}

func stream(namespace, name string, p managed.StreamParameters) *managed.Stream {
	return &managed.Stream{
		TypeMeta:   metav1.TypeMeta{APIVersion: managed.APIVersion, Kind: managed.KindStream},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       managed.StreamSpec{ManagedResourceSpec: adopt(""), ForProvider: p},
	}
}

// Conditioned is the part of a managed resource that says whether it is ready.
type Conditioned struct {
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// Ready reports whether the composed managed resource of that name is ready,
// and if not, what it says of itself.
func Ready(c *compose.Call, name string) (compose.Readiness, string) {
	var o Conditioned
	if !c.Observed(name, &o) {
		return compose.NotReady, "it does not exist yet"
	}
	message := "it has not been observed yet"
	for _, cond := range o.Status.Conditions {
		if cond.Type == "Ready" && cond.Status == metav1.ConditionTrue {
			return compose.Ready, ""
		}
		if (cond.Type == "Ready" || cond.Type == "Synced") && cond.Status == metav1.ConditionFalse && cond.Message != "" {
			message = cond.Message
		}
	}
	return compose.NotReady, message
}
