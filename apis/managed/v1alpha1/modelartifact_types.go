package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ModelArtifactParameters name the files of a model.
//
// +kubebuilder:validation:XValidation:rule="!self.url.startsWith('pvc://') || has(self.progressKey)",message="the files of a volume are known only by the report of a Job",reason=FieldValueRequired,fieldPath=".progressKey"
type ModelArtifactParameters struct {
	// Folder of the files in the object store, s3://BUCKET/PREFIX; or the file of the weights in a volume, pvc://CLAIM/FILE.
	// +kubebuilder:validation:Pattern=`^(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]|pvc://[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)/.+$`
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url"`

	// Progress record of the Job that writes the files, or inspects those of a volume, in the bucket koldun_progress.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ProgressKey string `json:"progressKey,omitempty"`

	// Source that the manifest has to name, such as hf://ORG/REPO: files of another one do not count. Absent: any.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Source string `json:"source,omitempty"`

	// Commit of the source that the manifest has to name. Absent: any.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Commit string `json:"commit,omitempty"`

	// Every change of this value causes a new verification of sizes and digests of all files.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Verify string `json:"verify,omitempty"`
}

// ModelArtifactObservation is the observed state of the files.
type ModelArtifactObservation struct {
	// Whether the manifest exists, and all its files with their sizes; in a volume, whether the Job has found them complete.
	// +optional
	Whole bool `json:"whole,omitempty"`

	// SHA-256 of the manifest.
	// +optional
	ManifestSHA256 string `json:"manifestSHA256,omitempty"`

	// Size of all files in bytes.
	// +optional
	SizeBytes int64 `json:"sizeBytes,omitempty"`

	// File name of the converted weights.
	// +optional
	ModelFile string `json:"modelFile,omitempty"`

	// File name of the converted tokenizer.
	// +optional
	TokenizerFile string `json:"tokenizerFile,omitempty"`

	// Type of the converted weights.
	// +optional
	Weights string `json:"weights,omitempty"`

	// The header of the converted model.
	// +optional
	Shape *ModelShape `json:"shape,omitempty"`

	// Value of verify at the last verification.
	// +optional
	Verified string `json:"verified,omitempty"`

	// Progress of the Job that writes the files.
	// +optional
	Progress *Progress `json:"progress,omitempty"`
}

// A ModelShape is the arithmetic of a model. The fields are those of topology.Shape.
type ModelShape struct {
	// Architecture: llama, qwen3 or qwen3_moe.
	Arch string `json:"arch"`
	// Width of the residual stream.
	Dim int `json:"dim"`
	// Inner width of the feed-forward layers.
	HiddenDim int `json:"hiddenDim"`
	// Number of layers.
	Layers int `json:"layers"`
	// Attention heads.
	Heads int `json:"heads"`
	// Key-value heads.
	KVHeads int `json:"kvHeads"`
	// Size of one head.
	HeadDim int `json:"headDim"`
	// Tokens in the vocabulary.
	VocabSize int `json:"vocabSize"`
	// Longest context in tokens.
	SeqLen int `json:"seqLen"`
	// Experts of a mixture.
	// +optional
	Experts int `json:"experts,omitempty"`
	// Experts used for each token.
	// +optional
	ActiveExperts int `json:"activeExperts,omitempty"`
	// Inner width of one expert.
	// +optional
	MoEHiddenDim int `json:"moeHiddenDim,omitempty"`
	// Type of the matrix weights.
	// +optional
	Weights string `json:"weights,omitempty"`
}

// Progress is the progress of a Job.
type Progress struct {
	// Stage: fetch, convert or inspect.
	// +optional
	Stage string `json:"stage,omitempty"`
	// Phase: Running, Done or Failed.
	// +optional
	Phase string `json:"phase,omitempty"`
	// Current file or tensor.
	// +optional
	Item string `json:"item,omitempty"`
	// Bytes done.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`
	// Bytes in total.
	// +optional
	Total int64 `json:"total,omitempty"`
	// Percentage done, 0 to 100.
	// +optional
	Percent int `json:"percent,omitempty"`
	// Estimated seconds left at the current rate.
	// +optional
	ETASeconds int64 `json:"etaSeconds,omitempty"`
	// Bytes per second over the last seconds.
	// +optional
	BytesPerSecond int64 `json:"bytesPerSecond,omitempty"`
	// Error of a failed stage, or that after which a running one tries again.
	// +optional
	Message string `json:"message,omitempty"`
}

// A ModelArtifact is the set of files of a model in the object store, and the progress of the Job that writes them; or that in a volume, as a
// Job has found it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.spec.forProvider.url`
type ModelArtifact struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ModelArtifactSpec   `json:"spec"`
	Status ModelArtifactStatus `json:"status,omitempty"`
}

// ModelArtifactSpec is the desired state of a ModelArtifact.
type ModelArtifactSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider ModelArtifactParameters `json:"forProvider"`
}

// ModelArtifactStatus is the observed state of a ModelArtifact.
type ModelArtifactStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider ModelArtifactObservation `json:"atProvider,omitempty"`
}

// ModelArtifactList is a list of ModelArtifacts.
//
// +kubebuilder:object:root=true
type ModelArtifactList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ModelArtifact `json:"items"`
}
