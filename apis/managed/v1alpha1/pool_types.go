package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PoolParameters name a pool of runners and its limits.
//
// +kubebuilder:validation:XValidation:rule="!has(self.dllama) || has(self.owner) && size(self.owner) > 0",message="spec.forProvider.dllama needs owner, which the names of Dllamas begin with"
type PoolParameters struct {
	// Key of the pool in the queue.
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-]{1,200}$`
	Session string `json:"session"`

	// Minimum members.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	MinMembers int32 `json:"minMembers,omitempty"`

	// Maximum members.
	// +optional
	// +kubebuilder:default=64
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	MaxMembers int32 `json:"maxMembers"` // 0 is a number, too

	// Waiting requests per member that cause another member.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	ScaleUpBacklog int32 `json:"scaleUpBacklog,omitempty"`

	// Seconds without work after which a member above minMembers is drained.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=1
	ScaleDownIdleSeconds int32 `json:"scaleDownIdleSeconds,omitempty"`

	// Session or Dllama, NAMESPACE/NAME, whose Dllamas are the members. Without it, members cannot be matched to runners: a draining member waits until no
	// runner of the pool is busy.
	// +optional
	// +kubebuilder:validation:MaxLength=127
	Owner string `json:"owner,omitempty"`

	// Template of the Dllama of each member. The Pool creates the Dllama in its own namespace and owns it; its name consists of the owner and the
	// member. Without a template, members are only listed.
	// +optional
	Dllama *ObjectTemplate `json:"dllama,omitempty"`
}

// A PoolPhase is a phase of a member's life.
type PoolPhase string

// The phases, in order.
const (
	PoolActive   PoolPhase = "Active"   // it takes requests
	PoolDraining PoolPhase = "Draining" // it finishes what it has and takes no more
	PoolDrained  PoolPhase = "Drained"  // it has nothing left and can go
)

// A PoolMember is one member of a pool.
type PoolMember struct {
	// Name of the member: a counter from 0 that the pool never reuses.
	// +kubebuilder:validation:Pattern=`^[a-z0-9]{1,10}$`
	Name string `json:"name"`

	// Phase: Active, Draining or Drained.
	// +kubebuilder:validation:Enum=Active;Draining;Drained
	Phase PoolPhase `json:"phase"`

	// Whether its Dllama serves.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// Workers of its Dllama that are ready.
	// +optional
	ReadyWorkers int32 `json:"readyWorkers,omitempty"`

	// Reason why its Dllama does not serve.
	// +optional
	Reason string `json:"reason,omitempty"`

	// Message for the reason.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// PoolObservation is the observed state of a pool. Changes of the template and of members, of the first one that serves and of the last one that ceases to are
// written at once; how many serve and why others do not, within 5 seconds; numbers at most every 30 seconds.
type PoolObservation struct {
	// Desired members of the pool.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	Members []PoolMember `json:"members,omitempty"`

	// Hash of the template that the states of members are of.
	// +optional
	Template string `json:"template,omitempty"`

	// Number of the next member.
	// +optional
	NextMember int32 `json:"nextMember,omitempty"`

	// Waiting requests.
	// +optional
	Backlog int32 `json:"backlog,omitempty"`

	// Running requests.
	// +optional
	InFlight int32 `json:"inFlight,omitempty"`

	// Age of the oldest waiting request, in seconds.
	// +optional
	OldestAgeSeconds int32 `json:"oldestAgeSeconds,omitempty"`

	// Idle runners.
	// +optional
	IdleRunners int32 `json:"idleRunners,omitempty"`

	// Busy runners.
	// +optional
	BusyRunners int32 `json:"busyRunners,omitempty"`

	// When the pool last had work.
	// +optional
	LastActivity *metav1.Time `json:"lastActivity,omitempty"`
}

// A Pool derives the members of a pool of runners from its waiting requests, and manages a Dllama for each.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Members",type=string,JSONPath=`.status.atProvider.members[*].name`
// +kubebuilder:printcolumn:name="Backlog",type=integer,JSONPath=`.status.atProvider.backlog`
type Pool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PoolSpec   `json:"spec"`
	Status PoolStatus `json:"status,omitempty"`
}

// PoolSpec is the desired state of a Pool.
type PoolSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider PoolParameters `json:"forProvider"`
}

// PoolStatus is the observed state of a Pool.
type PoolStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider PoolObservation `json:"atProvider,omitempty"`
}

// PoolList is a list of Pools.
//
// +kubebuilder:object:root=true
type PoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Pool `json:"items"`
}
