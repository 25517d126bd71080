package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A Dllama serves one model on 2^n nodes. With an inline model and an expose block it is all that is needed for an OpenAI-compatible endpoint.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=dll,categories=koldun
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.model`
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.nodes`
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
type DllamaSpec struct {
	// A Model that exists.
	// +optional
	ModelRef *ModelReference `json:"modelRef,omitempty"`

	// A Model of this Dllama's own, made and removed with it.
	// +optional
	Model *ModelSpec `json:"model,omitempty"`

	// Power p of the number of nodes: 2^p nodes in all, the root among them. 0 is a single node.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	ReplicaPower int32 `json:"replicaPower,omitempty"`

	// Image of the root pod's engine. Defaults to the package's image, which holds the embedded engine.
	// +optional
	RootImage string `json:"rootImage,omitempty"`

	// Image of the worker pods' engine. Defaults to rootImage.
	// +optional
	WorkerImage string `json:"workerImage,omitempty"`

	// How the engine runs.
	// +optional
	// +kubebuilder:default={}
	Engine Engine `json:"engine,omitempty"`

	// Makes the model reachable over HTTP, through an Ingress of this Dllama's own.
	// +optional
	Expose *Expose `json:"expose,omitempty"`
}

// Engine says how the inference engine runs.
type Engine struct {
	// Compute threads of each node.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=512
	Threads int32 `json:"threads,omitempty"`

	// Longest context in tokens; memory for all of it is taken at the start. Defaults to the model's own, at most 4096.
	// +optional
	// +kubebuilder:validation:Minimum=32
	MaxSeqLen int32 `json:"maxSeqLen,omitempty"`
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

	// Worker pods that are ready.
	// +optional
	ReadyWorkers int32 `json:"readyWorkers"`

	// Whether a token came out of the root.
	// +optional
	ReadyRoot bool `json:"readyRoot"`

	// Memory that the plan gives to the root, in bytes.
	// +optional
	RootMemoryBytes int64 `json:"rootMemoryBytes,omitempty"`
}

// DllamaList is a list of Dllamas.
//
// +kubebuilder:object:root=true
type DllamaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Dllama `json:"items"`
}
