package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Status is what every kind reports.
type Status struct {
	// Conditions of the object. Ready and Synced are Crossplane's; Serving is Koldun's: its reason comes from a documented list and its
	// message names what blocks and how to mend it.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// Condition types that Koldun sets.
const (
	// ConditionServing says whether the object does what it is for.
	ConditionServing = "Serving"
	// ConditionDownloaded says whether a model's source files are in the object store, whole.
	ConditionDownloaded = "Downloaded"
	// ConditionConverted says whether a model's converted files are in the object store, whole.
	ConditionConverted = "Converted"
)

// ModelReference names a Model.
type ModelReference struct {
	// Kind of the referent.
	// +optional
	// +kubebuilder:default=Model
	// +kubebuilder:validation:Enum=Model;model
	Kind string `json:"kind,omitempty"`

	// API group of the referent.
	// +optional
	// +kubebuilder:validation:Enum="";koldun.gorizond.io
	APIGroup string `json:"apiGroup,omitempty"`

	// Name of the Model.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Namespace of the Model. Defaults to the namespace of the object that refers.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// SecretReference names a Secret.
type SecretReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the Secret. Must be the object's own namespace when given.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}
