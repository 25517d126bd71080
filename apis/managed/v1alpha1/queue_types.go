package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// QueueParameters describe a set of streams and key-value buckets.
type QueueParameters struct {
	// Streams of the queue.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Streams []StreamParameters `json:"streams,omitempty"`

	// Key-value buckets of the queue.
	// +optional
	// +listType=map
	// +listMapKey=bucket
	// +kubebuilder:validation:MaxItems=16
	KeyValues []KeyValueParameters `json:"keyValues,omitempty"`
}

// QueueObservation is the observed state of a queue.
type QueueObservation struct {
	// Public key of the NATS account of the namespace, if the servers are in operator mode. Credentials are those of a NATSUser then.
	// +optional
	Account string `json:"account,omitempty"`

	// TCP ports that clients of this connection need: those of the servers' addresses, and egressPorts of the ProviderConfig. The network policies of
	// claims allow them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=128
	Ports []int32 `json:"ports,omitempty"`

	// Whether all streams and buckets exist with the desired configuration.
	// +optional
	Configured bool `json:"configured,omitempty"`
}

// A Queue is a set of JetStream streams and key-value buckets as one resource, which saves watchers the events of each part. Existing parts are
// updated in place and never recreated.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
type Queue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   QueueSpec   `json:"spec"`
	Status QueueStatus `json:"status,omitempty"`
}

// QueueSpec is the desired state of a Queue.
type QueueSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider QueueParameters `json:"forProvider"`
}

// QueueStatus is the observed state of a Queue.
type QueueStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider QueueObservation `json:"atProvider,omitempty"`
}

// QueueList is a list of Queues.
//
// +kubebuilder:object:root=true
type QueueList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Queue `json:"items"`
}
