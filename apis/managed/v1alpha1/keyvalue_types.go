package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KeyValueParameters describe a JetStream key-value bucket. A new bucket has no limits by default, and an existing bucket keeps settings that
// are not given.
type KeyValueParameters struct {
	// Name of the bucket.
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-]{1,255}$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a bucket cannot be renamed"
	Bucket string `json:"bucket"`

	// Time for which watchers can see the expiry of a key. It enables a TTL per key; 0s disables both. Requires NATS 2.11.
	// +optional
	LimitMarkerTTL *metav1.Duration `json:"limitMarkerTTL,omitempty"`

	// Time after which every key expires; 0s is never.
	// +optional
	TTL *metav1.Duration `json:"ttl,omitempty"`

	// Values kept per key. Defaults to 1 in a new bucket.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	History int32 `json:"history,omitempty"`

	// Maximum size in bytes; 0 is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxBytes *int64 `json:"maxBytes,omitempty"`

	// Maximum size of a value in bytes; 0 is no limit besides the server's.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxValueSize *int32 `json:"maxValueSize,omitempty"`

	// Servers of a cluster that keep a copy. Defaults to 1 for a new bucket.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5
	Replicas int32 `json:"replicas,omitempty"`

	// Servers of a cluster that may keep a copy. Defaults to all, or to the current ones.
	// +optional
	Placement *StreamPlacement `json:"placement,omitempty"`
}

// KeyValueObservation is the observed state of a bucket.
type KeyValueObservation struct {
	// Public key of the NATS account of the namespace, if the servers are in operator mode. Credentials are those of a NATSUser then.
	// +optional
	Account string `json:"account,omitempty"`

	// TCP ports that clients of this connection need: those of the servers' addresses, and egressPorts of the ProviderConfig. The network policies of
	// claims allow them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=128
	Ports []int32 `json:"ports,omitempty"`

	// Whether the bucket exists with the desired configuration.
	// +optional
	Configured bool `json:"configured,omitempty"`

	// Creation time of the bucket.
	// +optional
	Created *metav1.Time `json:"created,omitempty"`

	// Values kept per key.
	// +optional
	History int32 `json:"history,omitempty"`

	// Servers that keep a copy.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
}

// A KeyValue is a JetStream key-value bucket. An existing bucket is updated in place and never recreated.
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

	// Desired state of the external resource.
	ForProvider KeyValueParameters `json:"forProvider"`
}

// KeyValueStatus is the observed state of a KeyValue.
type KeyValueStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
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
