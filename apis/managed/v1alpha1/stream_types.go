package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StreamParameters describe a JetStream stream. A new stream has no limits by default, and an existing stream keeps settings that are not given.
type StreamParameters struct {
	// Name of the stream.
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-]{1,255}$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a stream cannot be renamed"
	Name string `json:"name"`

	// Subjects that the stream captures.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	Subjects []string `json:"subjects"`

	// Whether the server deletes old messages or refuses new ones when a limit is reached. Defaults to Old for a new stream.
	// +optional
	// +kubebuilder:validation:Enum=old;new
	Discard string `json:"discard,omitempty"`

	// Maximum size in bytes; 0 is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxBytes *int64 `json:"maxBytes,omitempty"`

	// Maximum messages; 0 is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxMsgs *int64 `json:"maxMsgs,omitempty"`

	// Maximum size of a message in bytes; 0 is no limit besides the server's.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxMsgSize *int32 `json:"maxMsgSize,omitempty"`

	// Maximum messages of one subject; 0 is no limit. With discard New, further ones are refused.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxMsgsPerSubject *int64 `json:"maxMsgsPerSubject,omitempty"`

	// Maximum age of a message; 0s is no limit.
	// +optional
	MaxAge *metav1.Duration `json:"maxAge,omitempty"`

	// Time in which a message with the same Nats-Msg-Id is dropped as a duplicate; at most maxAge. Defaults to two minutes in a new stream.
	// +optional
	DuplicateWindow *metav1.Duration `json:"duplicateWindow,omitempty"`

	// Servers of a cluster that keep a copy. Defaults to 1 for a new stream.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5
	Replicas int32 `json:"replicas,omitempty"`

	// Servers of a cluster that may keep a copy. Defaults to all, or to the current ones.
	// +optional
	Placement *StreamPlacement `json:"placement,omitempty"`
}

// StreamPlacement selects the servers of a cluster that keep a stream.
type StreamPlacement struct {
	// Name of the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Cluster string `json:"cluster,omitempty"`

	// Tags, all of which a server must have.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	Tags []string `json:"tags,omitempty"`
}

// StreamObservation is the observed state of a stream.
type StreamObservation struct {
	// Whether the stream exists with the desired configuration.
	// +optional
	Configured bool `json:"configured,omitempty"`

	// Creation time of the stream.
	// +optional
	Created *metav1.Time `json:"created,omitempty"`

	// Storage of messages: File or Memory.
	// +optional
	Storage string `json:"storage,omitempty"`

	// Servers that keep a copy.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`

	// Time in which a message with the same Nats-Msg-Id is dropped as a duplicate.
	// +optional
	DuplicateWindow *metav1.Duration `json:"duplicateWindow,omitempty"`
}

// A Stream is a JetStream stream with limits retention.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Stream",type=string,JSONPath=`.spec.forProvider.name`
type Stream struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   StreamSpec   `json:"spec"`
	Status StreamStatus `json:"status,omitempty"`
}

// StreamSpec is the desired state of a Stream.
type StreamSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider StreamParameters `json:"forProvider"`
}

// StreamStatus is the observed state of a Stream.
type StreamStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider StreamObservation `json:"atProvider,omitempty"`
}

// StreamList is a list of Streams.
//
// +kubebuilder:object:root=true
type StreamList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Stream `json:"items"`
}
