package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DemandParameters select the demand of a namespace.
type DemandParameters struct {
	// Namespace of the models.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// Maximum isolated pools. Further ones are not listed.
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	MaxIsolated int32 `json:"maxIsolated,omitempty"`

	// Template of the Session of each pool; model and key are added. The Demand creates the Session in its own namespace and owns it. It creates
	// none for a pool that another Session serves. Without a template, pools are only listed.
	// +optional
	Session *ObjectTemplate `json:"session,omitempty"`
}

// A DemandedSession is a pool in demand.
type DemandedSession struct {
	// Key of the pool in the queue.
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-]{1,200}$`
	Key string `json:"key"`

	// Name of the model.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Model string `json:"model"`

	// Whether the pool is separate for one tenant or conversation.
	// +optional
	Isolated bool `json:"isolated,omitempty"`
}

// DemandObservation is the observed demand. Updates of growing lists are limited in rate.
type DemandObservation struct {
	// Pools in demand.
	// +optional
	// +listType=map
	// +listMapKey=key
	// +kubebuilder:validation:MaxItems=128
	Sessions []DemandedSession `json:"sessions,omitempty"`
}

// A Demand lists the pools in demand, and manages a Session for each.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Sessions",type=string,JSONPath=`.status.atProvider.sessions[*].key`
type Demand struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DemandSpec   `json:"spec"`
	Status DemandStatus `json:"status,omitempty"`
}

// DemandSpec is the desired state of a Demand.
type DemandSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider DemandParameters `json:"forProvider"`
}

// DemandStatus is the observed state of a Demand.
type DemandStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider DemandObservation `json:"atProvider,omitempty"`
}

// DemandList is a list of Demands.
//
// +kubebuilder:object:root=true
type DemandList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Demand `json:"items"`
}
