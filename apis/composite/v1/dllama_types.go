package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A Dllama serves one model on one or more nodes. With an inline model and an expose block it is all that is needed for an
// OpenAI-compatible endpoint.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=dll,categories=koldun
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.model`
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.nodes`
// +kubebuilder:printcolumn:name="ReadyWorkers",type=integer,JSONPath=`.status.readyWorkers`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].reason`
type Dllama struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DllamaSpec   `json:"spec"`
	Status DllamaStatus `json:"status,omitempty"`
}

// DllamaSpec describes a Dllama.
//
// +kubebuilder:validation:XValidation:rule="has(self.model) != has(self.modelRef)",message="give either model (inline) or modelRef (a Model that exists), not both"
// +kubebuilder:validation:XValidation:rule="!(has(self.nodes) && has(self.replicaPower))",message="give either nodes or replicaPower, not both",fieldPath=".nodes"
type DllamaSpec struct {
	// A Model that exists.
	// +optional
	ModelRef *ModelReference `json:"modelRef,omitempty"`

	// A Model of this Dllama's own, made and removed with it.
	// +optional
	Model *ModelSpec `json:"model,omitempty"`

	Runtime `json:",inline"`

	// NATS servers that requests come from.
	// +optional
	NATS *NATSConnection `json:"nats,omitempty"`

	// Makes the model reachable over HTTP, through an Ingress of this Dllama's own.
	// +optional
	Expose *Expose `json:"expose,omitempty"`
}

// Expose makes a Dllama reachable.
type Expose struct {
	// Answers requests without an API token. Only for machines and networks where every caller may ask.
	// +optional
	AllowAnonymous bool `json:"allowAnonymous,omitempty"`

	// The Service in front of the gateway.
	// +optional
	// +kubebuilder:default={}
	Service IngressService `json:"service,omitempty"`

	// The way from outside of the cluster.
	// +optional
	Route *Route `json:"route,omitempty"`
}

// DllamaStatus is what a Dllama reports.
type DllamaStatus struct {
	Status `json:",inline"`

	// Model id as clients name it: namespace/name.
	// +optional
	Model string `json:"model,omitempty"`

	// Base URL of the OpenAI-compatible API.
	// +optional
	URL string `json:"url,omitempty"`

	// Nodes of the topology: the root and its workers.
	// +optional
	Nodes int32 `json:"nodes,omitempty"`

	// Worker pods that are ready; while not all are, in steps of a quarter, so that a large group does not report every pod.
	// +optional
	ReadyWorkers int32 `json:"readyWorkers"`

	// Whether a token came out of the root.
	// +optional
	ReadyRoot bool `json:"readyRoot"`

	// Memory that the plan gives to the root, in bytes.
	// +optional
	RootMemoryBytes int64 `json:"rootMemoryBytes,omitempty"`

	// Memory that the plan gives to each worker, in bytes.
	// +optional
	WorkerMemoryBytes int64 `json:"workerMemoryBytes,omitempty"`

	// Longest context in tokens.
	// +optional
	MaxSeqLen int32 `json:"maxSeqLen,omitempty"`

	// Files that are served. They go on being served if the Model cannot be read for a while.
	// +optional
	Artifact *ServedArtifact `json:"artifact,omitempty"`
}

// A ServedArtifact is the files that a Dllama serves.
type ServedArtifact struct {
	Artifact `json:",inline"`

	// Model that the files are of, NAMESPACE/NAME.
	Model string `json:"model"`

	// PersistentVolumeClaim with the files, if there is one.
	// +optional
	ClaimName string `json:"claimName,omitempty"`

	// Arguments of the engine that the Model names.
	// +optional
	// +listType=atomic
	LaunchOptions []string `json:"launchOptions,omitempty"`

	// Nodes that the Model names, as a power of two.
	// +optional
	ReplicaPower *int32 `json:"replicaPower,omitempty"`
}

// DllamaList is a list of Dllamas.
//
// +kubebuilder:object:root=true
type DllamaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Dllama `json:"items"`
}
