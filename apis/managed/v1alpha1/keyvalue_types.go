package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KeyValueParameters describe a JetStream key-value bucket. What is left out has no limit in a new bucket, and stays as it is in one that
// exists.
type KeyValueParameters struct {
	// Name of the bucket.
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-]{1,255}$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a bucket cannot be renamed"
	Bucket string `json:"bucket"`

	// Lets keys expire one by one, and tells watchers by a marker that is kept for this long; 0s is neither. Needs NATS 2.11.
	// +optional
	LimitMarkerTTL *metav1.Duration `json:"limitMarkerTTL,omitempty"`

	// Time after which every key expires; 0s is never.
	// +optional
	TTL *metav1.Duration `json:"ttl,omitempty"`

	// Values kept per key. Without it, one in a new bucket, and as many as now in an existing one.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	History int32 `json:"history,omitempty"`

	// Largest size in bytes; 0 is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxBytes *int64 `json:"maxBytes,omitempty"`

	// Largest value in bytes; 0 is no limit of the bucket's own.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxValueSize *int32 `json:"maxValueSize,omitempty"`

	// Servers of a cluster that keep a copy. Without it, one of a new bucket.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5
	Replicas int32 `json:"replicas,omitempty"`

	// Servers of a cluster that may keep a copy. Without it, all of them, or those that do.
	// +optional
	Placement *StreamPlacement `json:"placement,omitempty"`
}

// KeyValueObservation is what was found of a bucket.
type KeyValueObservation struct {
	// Whether the bucket exists with the wanted configuration.
	// +optional
	Configured bool `json:"configured,omitempty"`

	// When the bucket was made.
	// +optional
	Created *metav1.Time `json:"created,omitempty"`

	// Values kept per key.
	// +optional
	History int32 `json:"history,omitempty"`

	// Servers that keep a copy.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
}

// A KeyValue is a JetStream key-value bucket. An existing one is updated in place, never made anew.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Bucket",type=string,JSONPath=`.spec.forProvider.bucket`
type KeyValue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   KeyValueSpec   `json:"spec"`
	Status KeyValueStatus `json:"status,omitempty"`
}

// KeyValueSpec is the desired state of a KeyValue.
type KeyValueSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// What is wanted outside.
	ForProvider KeyValueParameters `json:"forProvider"`
}

// KeyValueStatus is the observed state of a KeyValue.
type KeyValueStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// What was found outside.
	// +optional
	AtProvider KeyValueObservation `json:"atProvider,omitempty"`
}

// KeyValueList is a list of KeyValues.
//
// +kubebuilder:object:root=true
type KeyValueList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []KeyValue `json:"items"`
}
