package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// PartParameters describe a composite.
type PartParameters struct {
	// Kind of the composite.
	// +kubebuilder:validation:Enum=Model;Ingress;Session;Dllama
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="kind is immutable"
	Kind string `json:"kind"`

	// Name of the composite, which is in the namespace of the Part.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="name is immutable"
	Name string `json:"name"`

	// Metadata and spec of the composite.
	Template ObjectTemplate `json:"template"`

	// Reasons of its condition Serving that pass by themselves, and are not reported.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	TransientReasons []string `json:"transientReasons,omitempty"`
}

// PartObservation is what the owner of a Part needs to know of the composite.
type PartObservation struct {
	// Whether the composite serves.
	// +optional
	Serving bool `json:"serving,omitempty"`

	// Reason why it does not, unless that is transient; or PrerequisiteMissing if it serves, and the cluster lacks something else for it.
	// +optional
	Reason string `json:"reason,omitempty"`

	// Message for the reason.
	// +optional
	Message string `json:"message,omitempty"`

	// Fields of its status that lead to what it provides: artifact, shape, outputPVCName, backendServiceName and url.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Outputs *runtime.RawExtension `json:"outputs,omitempty"`
}

// A Part manages a Model, Ingress, Session or Dllama for another composite, and reports only what that one acts on: a composite that composed it directly would
// be reconciled for each step of its progress.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Kind",type=string,JSONPath=`.spec.forProvider.kind`
// +kubebuilder:printcolumn:name="Name",type=string,JSONPath=`.spec.forProvider.name`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.atProvider.reason`
type Part struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PartSpec   `json:"spec"`
	Status PartStatus `json:"status,omitempty"`
}

// PartSpec is the desired state of a Part.
type PartSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider PartParameters `json:"forProvider"`

	// The composite, for tools that follow references, such as `crossplane beta trace`.
	// +optional
	ResourceRef *CompositeReference `json:"resourceRef,omitempty"`
}

// CompositeReference refers to a composite, as a claim does.
type CompositeReference struct {
	// API version of the composite.
	APIVersion string `json:"apiVersion"`

	// Kind of the composite.
	Kind string `json:"kind"`

	// Name of the composite.
	Name string `json:"name"`

	// Namespace of the composite.
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// PartStatus is the observed state of a Part.
type PartStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider PartObservation `json:"atProvider,omitempty"`
}

// PartList is a list of Parts.
//
// +kubebuilder:object:root=true
type PartList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Part `json:"items"`
}
