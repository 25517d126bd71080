package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A Dllama serves one model on one or more nodes. With an inline model and an expose block it is a complete OpenAI-compatible endpoint.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=dll,categories=koldun
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.model`
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.nodes`
// +kubebuilder:printcolumn:name="ReadyWorkers",type=integer,JSONPath=`.status.readyWorkers`
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="ETA",type=string,JSONPath=`.status.eta`,priority=1
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
// +kubebuilder:validation:XValidation:rule="has(self.model) != has(self.modelRef) || !has(self.model) && has(self.engine.server) && (has(self.engine.server.url) || has(self.engine.server.source) && self.engine.server.source == 'download')",message="give either model (inline) or modelRef (a Model that exists), not both; a server with url or source download needs neither"
// +kubebuilder:validation:XValidation:rule="!has(self.model) || !has(self.engine.server) || !(has(self.engine.server.url) || has(self.engine.server.source) && self.engine.server.source == 'download')",message="a server with url or source download reads no files: leave model out",fieldPath=".model"
// +kubebuilder:validation:XValidation:rule="!(has(self.nodes) && has(self.replicaPower))",message="give either nodes or replicaPower, not both",fieldPath=".nodes"
// +kubebuilder:validation:XValidation:rule="!has(self.expose) || !has(self.expose.scaling) || has(self.model) || has(self.modelRef)",message="a pool serves a Model: with expose.scaling, give model or modelRef",fieldPath=".expose.scaling"
// +kubebuilder:validation:XValidation:rule="!has(self.ingressRef) || has(self.modelRef) && has(self.modelRef.__namespace__)",message="the Ingress is in the namespace of the Model: give modelRef with a namespace",fieldPath=".ingressRef"
// +kubebuilder:validation:XValidation:rule="!has(self.ingressRef) || !(has(self.engine.type) || has(self.engine.server) || has(self.engine.maxSeqLen) || has(self.engine.bufferFloatType) || has(self.engine.netTurbo) || has(self.engine.gpuIndex) || has(self.engine.extraArgs)) && !(has(self.expose) && has(self.expose.scaling))",message="the engines are those of another namespace: of engine only slots has an effect, and expose.scaling has none",fieldPath=".ingressRef"
type DllamaSpec struct {
	// Existing Model to serve.
	// +optional
	ModelRef *ModelReference `json:"modelRef,omitempty"`

	// Ingress in the namespace of the Model of modelRef. The Dllama then runs no engine, and sends requests to the gateway of that Ingress. The
	// Model has to list the namespace of the Dllama in allowedNamespaces. The API token is generated and registered automatically.
	// +optional
	IngressRef *IngressReference `json:"ingressRef,omitempty"`

	// Inline Model, created and deleted with this Dllama.
	// +optional
	Model *ModelSpec `json:"model,omitempty"`

	Runtime `json:",inline"`

	// NATS servers of the queue.
	// +optional
	NATS *NATSConnection `json:"nats,omitempty"`

	// Share of the requests of a name that several Dllamas and Sessions serve, for a canary, a migration or a fallback.
	// +optional
	Traffic *Traffic `json:"traffic,omitempty"`

	// Exposes the model over HTTP through an Ingress that is created and deleted with this Dllama.
	// +optional
	Expose *Expose `json:"expose,omitempty"`
}

// Expose describes the endpoint of a Dllama.
type Expose struct {
	GatewaySettings `json:",inline"`

	// Runs the model in a pool of Dllamas whose size follows the requests. With minDllamas: 0 nothing runs without requests, and the first one
	// waits for the start. Without scaling, this Dllama runs the model itself. Adding or removing it replaces the pods.
	// +optional
	Scaling *Scaling `json:"scaling,omitempty"`

	// The Service in front of the gateway.
	// +optional
	// +kubebuilder:default={}
	Service IngressService `json:"service,omitempty"`

	// Route from outside of the cluster.
	// +optional
	Route *Route `json:"route,omitempty"`
}

// DllamaStatus is the status of a Dllama.
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

	// Ready worker pods; rounded to quarters until all are ready, so that a large group does not report every pod.
	// +optional
	ReadyWorkers int32 `json:"readyWorkers"`

	// Whether the root has generated a token.
	// +optional
	ReadyRoot bool `json:"readyRoot"`

	// Progress of a root that starts: "fetch 42%" while it gets the files, "load 42%" while it loads them. It lags behind by up to 30 seconds.
	// +optional
	Progress string `json:"progress,omitempty"`

	// Estimated time until the end of that stage: "2m". Empty while it is not known.
	// +optional
	ETA string `json:"eta,omitempty"`

	// Planned memory of the root, in bytes.
	// +optional
	RootMemoryBytes int64 `json:"rootMemoryBytes,omitempty"`

	// Planned memory of each worker, in bytes.
	// +optional
	WorkerMemoryBytes int64 `json:"workerMemoryBytes,omitempty"`

	// Longest context in tokens.
	// +optional
	MaxSeqLen int32 `json:"maxSeqLen,omitempty"`

	// Served files. The Dllama continues to serve them while the Model cannot be read.
	// +optional
	Artifact *ServedArtifact `json:"artifact,omitempty"`
}

// A ServedArtifact describes the files that a Dllama serves.
type ServedArtifact struct {
	Artifact `json:",inline"`

	// Model of the files, NAMESPACE/NAME.
	Model string `json:"model"`

	// PersistentVolumeClaim with the files, if any.
	// +optional
	ClaimName string `json:"claimName,omitempty"`

	// Engine arguments of the Model.
	// +optional
	// +listType=atomic
	LaunchOptions []string `json:"launchOptions,omitempty"`

	// Nodes of the Model, as a power of two.
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
