package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	managed "github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// A Model is a language model in object storage: downloaded from a hub at a pinned commit, verified, and converted to the formats of
// distributed-llama.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=mdl,categories=koldun
// +kubebuilder:printcolumn:name="Weights",type=string,JSONPath=`.status.artifact.weights`
// +kubebuilder:printcolumn:name="Size",type=string,JSONPath=`.status.artifact.size`
// +kubebuilder:printcolumn:name="Commit",type=string,JSONPath=`.status.commit`,priority=1
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].reason`
type Model struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ModelSpec   `json:"spec"`
	Status ModelStatus `json:"status,omitempty"`
}

// ModelSpec describes a Model.
type ModelSpec struct {
	// Repository to download: https://huggingface.co/ORG/REPO, optionally with /tree/REVISION, or hf://ORG/REPO@REVISION.
	// +kubebuilder:validation:MinLength=6
	// +kubebuilder:validation:MaxLength=512
	SourceURL string `json:"sourceUrl"`

	// Branch, tag or commit of the repository. It is resolved once to a commit, and only that commit is downloaded. Defaults to the
	// revision in sourceUrl, else to main.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Revision string `json:"revision,omitempty"`

	// Where the files are kept. Without it they go to the bucket koldun-models of the default object store.
	// +optional
	ObjectStorage *ObjectStorage `json:"objectStorage,omitempty"`

	// How to download.
	// +optional
	Download *Download `json:"download,omitempty"`

	// How to convert. Without it the weights are converted to q40.
	// +optional
	Conversion *Conversion `json:"conversion,omitempty"`
}

// ObjectStorage names the buckets of a Model.
type ObjectStorage struct {
	// Bucket for the files as the hub has them.
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	BucketForSource string `json:"bucketForSource,omitempty"`

	// Bucket for the converted files. Defaults to bucketForSource.
	// +optional
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	BucketForConvert string `json:"bucketForConvert,omitempty"`
}

// Download says how a Model is downloaded.
type Download struct {
	// Parts downloaded at the same time.
	// +optional
	// +kubebuilder:default=4
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Concurrency int32 `json:"concurrency,omitempty"`

	// Only files that match one of these glob patterns. Without it, all files that conversion can use.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	Include []string `json:"include,omitempty"`

	// No files that match one of these glob patterns.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	Exclude []string `json:"exclude,omitempty"`

	// Secret with the key "token", for gated and private repositories.
	// +optional
	HuggingFaceTokenSecretRef *SecretReference `json:"huggingFaceTokenSecretRef,omitempty"`
}

// Conversion says how a Model is converted.
type Conversion struct {
	// Type of the matrix weights: q40 (4.5 bits a weight) or f32.
	// +optional
	// +kubebuilder:default=q40
	// +kubebuilder:validation:Enum=q40;f32
	WeightsFloatType string `json:"weightsFloatType,omitempty"`
}

// ModelStatus is what a Model reports.
type ModelStatus struct {
	Status `json:",inline"`

	// Commit of the repository that was resolved from the revision.
	// +optional
	Commit string `json:"commit,omitempty"`

	// The converted files, once they are whole.
	// +optional
	Artifact *Artifact `json:"artifact,omitempty"`
}

// An Artifact is the converted files of a model.
type Artifact struct {
	// Folder of the files in the object store, s3://BUCKET/PREFIX.
	URL string `json:"url"`

	// Bucket of the folder.
	Bucket string `json:"bucket"`

	// File name of the weights.
	ModelFile string `json:"modelFile"`

	// File name of the tokenizer.
	TokenizerFile string `json:"tokenizerFile"`

	// Type of the matrix weights.
	Weights string `json:"weights"`

	// Size of all files in bytes.
	SizeBytes int64 `json:"sizeBytes"`

	// Size of all files for people.
	Size string `json:"size"`

	// Model header: the numbers that preflight and the memory plan use.
	// +optional
	Shape *managed.ModelShape `json:"shape,omitempty"`
}

// ModelList is a list of Models.
//
// +kubebuilder:object:root=true
type ModelList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Model `json:"items"`
}
