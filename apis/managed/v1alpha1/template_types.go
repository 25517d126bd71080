package v1alpha1

import "k8s.io/apimachinery/pkg/runtime"

// An ObjectTemplate is a template of objects in the namespace of a managed resource. The field determines their kind, whose schema validates
// their spec when they are created.
type ObjectTemplate struct {
	// Their labels.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Labels map[string]string `json:"labels,omitempty"`

	// Their annotations.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	Annotations map[string]string `json:"annotations,omitempty"`

	// Their spec.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Spec *runtime.RawExtension `json:"spec,omitempty"`
}
