package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ModelRecordParameters describe the entry of a model in the registry, or one member of it.
//
// +kubebuilder:validation:XValidation:rule="has(self.group) && size(self.group) > 0 || !has(self.weight) && !(has(self.fallback) && self.fallback)",message="weight and fallback are those of a group: name it",fieldPath=".group"
type ModelRecordParameters struct {
	// Namespace of the model. In Kubernetes it must be the namespace of the ModelRecord itself.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// Name of the model.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Folder of the converted files: s3://BUCKET/PREFIX. The entry is made from its manifest. Without a folder, the files are in a volume, and
	// the entry is made from sizeBytes and weights.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	ArtifactURL string `json:"artifactUrl,omitempty"`

	// Size of all files in bytes, for a model that is only in a volume.
	// +optional
	// +kubebuilder:validation:Minimum=0
	SizeBytes int64 `json:"sizeBytes,omitempty"`

	// Type of the matrix weights, for a model that is only in a volume.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Weights string `json:"weights,omitempty"`

	// Group of runners that the resource adds to the entry as a member. Without a group, the resource is the entry of the model itself.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group,omitempty"`

	// Share of the requests that the group takes, relative to the other groups of the name. 0 takes none. Defaults to 100.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Weight *int32 `json:"weight,omitempty"`

	// Whether the group takes only requests that no ready runner of another group serves.
	// +optional
	Fallback bool `json:"fallback,omitempty"`
}

// ModelRecordObservation is the observed state of the entry.
type ModelRecordObservation struct {
	// Key of the entry in the bucket koldun_models.
	// +optional
	Key string `json:"key,omitempty"`

	// SHA-256 of the manifest of the entry.
	// +optional
	ManifestSHA256 string `json:"manifestSHA256,omitempty"`

	// Whether the entry has the files of this resource.
	// +optional
	Files bool `json:"files,omitempty"`
}

// A ModelRecord is a model's entry in the registry, which gateways read.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Key",type=string,JSONPath=`.status.atProvider.key`
type ModelRecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ModelRecordSpec   `json:"spec"`
	Status ModelRecordStatus `json:"status,omitempty"`
}

// ModelRecordSpec is the desired state of a ModelRecord.
type ModelRecordSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider ModelRecordParameters `json:"forProvider"`
}

// ModelRecordStatus is the observed state of a ModelRecord.
type ModelRecordStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider ModelRecordObservation `json:"atProvider,omitempty"`
}

// ModelRecordList is a list of ModelRecords.
//
// +kubebuilder:object:root=true
type ModelRecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ModelRecord `json:"items"`
}
