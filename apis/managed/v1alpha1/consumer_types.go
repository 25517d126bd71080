package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConsumerParameters describe a durable JetStream consumer. An existing consumer keeps settings that are not given.
//
// +kubebuilder:validation:XValidation:rule="self.stream == oldSelf.stream && self.name == oldSelf.name",message="stream and name cannot be changed"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.deliverPolicy) || !has(self.deliverPolicy) || self.deliverPolicy == oldSelf.deliverPolicy",message="deliverPolicy cannot be changed"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.ackPolicy) || !has(self.ackPolicy) || self.ackPolicy == oldSelf.ackPolicy",message="ackPolicy cannot be changed"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.replayPolicy) || !has(self.replayPolicy) || self.replayPolicy == oldSelf.replayPolicy",message="replayPolicy cannot be changed"
// +kubebuilder:validation:XValidation:rule="has(self.startSequence) == (has(self.deliverPolicy) && self.deliverPolicy == 'ByStartSequence')",message="startSequence goes with deliverPolicy ByStartSequence"
// +kubebuilder:validation:XValidation:rule="has(self.startTime) == (has(self.deliverPolicy) && self.deliverPolicy == 'ByStartTime')",message="startTime goes with deliverPolicy ByStartTime"
type ConsumerParameters struct {
	// Stream of the consumer.
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-]{1,255}$`
	Stream string `json:"stream"`

	// Name of the consumer, which is durable.
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-]{1,255}$`
	Name string `json:"name"`

	// Description of the consumer.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Description *string `json:"description,omitempty"`

	// Subjects of the stream to consume. An empty list, the default of a new consumer, means all subjects.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	FilterSubjects *[]string `json:"filterSubjects,omitempty"`

	// Where a new consumer starts. Defaults to All.
	// +optional
	// +kubebuilder:validation:Enum=All;Last;New;LastPerSubject;ByStartSequence;ByStartTime
	DeliverPolicy string `json:"deliverPolicy,omitempty"`

	// First sequence, with deliverPolicy ByStartSequence.
	// +optional
	// +kubebuilder:validation:Minimum=1
	StartSequence *int64 `json:"startSequence,omitempty"`

	// First time, with deliverPolicy ByStartTime.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// Whether clients acknowledge each message, all messages up to one, or none. Defaults to Explicit in a new consumer.
	// +optional
	// +kubebuilder:validation:Enum=Explicit;All;None
	AckPolicy string `json:"ackPolicy,omitempty"`

	// How messages are replayed: at once, or at the pace at which they arrived. Defaults to Instant in a new consumer.
	// +optional
	// +kubebuilder:validation:Enum=Instant;Original
	ReplayPolicy string `json:"replayPolicy,omitempty"`

	// Time after which an unacknowledged message is delivered again. Defaults to the server's value.
	// +optional
	AckWait *metav1.Duration `json:"ackWait,omitempty"`

	// Maximum deliveries of one message; 0 is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxDeliver *int32 `json:"maxDeliver,omitempty"`

	// Pauses before further deliveries, instead of ackWait. Fewer than maxDeliver.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	Backoff *[]metav1.Duration `json:"backoff,omitempty"`

	// Maximum unacknowledged messages. Defaults to the server's value.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxAckPending int32 `json:"maxAckPending,omitempty"`

	// Time without pull requests after which the server deletes the consumer; 0s is never.
	// +optional
	InactiveThreshold *metav1.Duration `json:"inactiveThreshold,omitempty"`

	// Whether messages are delivered without their content.
	// +optional
	HeadersOnly *bool `json:"headersOnly,omitempty"`

	// Servers of a cluster that keep a copy of its state. Defaults to the replicas of the stream, as does 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5
	Replicas int32 `json:"replicas,omitempty"`
}

// ConsumerObservation is the observed state of a consumer.
type ConsumerObservation struct {
	// Whether the consumer exists with the desired configuration.
	// +optional
	Configured bool `json:"configured,omitempty"`

	// Creation time of the consumer.
	// +optional
	Created *metav1.Time `json:"created,omitempty"`
}

// A Consumer is a durable JetStream consumer that clients pull from.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Stream",type=string,JSONPath=`.spec.forProvider.stream`
// +kubebuilder:printcolumn:name="Consumer",type=string,JSONPath=`.spec.forProvider.name`
type Consumer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ConsumerSpec   `json:"spec"`
	Status ConsumerStatus `json:"status,omitempty"`
}

// ConsumerSpec is the desired state of a Consumer.
type ConsumerSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider ConsumerParameters `json:"forProvider"`
}

// ConsumerStatus is the observed state of a Consumer.
type ConsumerStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider ConsumerObservation `json:"atProvider,omitempty"`
}

// ConsumerList is a list of Consumers.
//
// +kubebuilder:object:root=true
type ConsumerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Consumer `json:"items"`
}
