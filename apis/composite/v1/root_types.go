package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Root is a single root of a topology. It serves a model from a volume with workers in or outside of the cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=rt,categories=koldun
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.nodes`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].reason`
type Root struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RootSpec   `json:"spec"`
	Status RootStatus `json:"status,omitempty"`
}

// RootSpec describes a Root.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.workers) && has(self.workerSelector))",message="give either workers (addresses) or workerSelector (Workers of this namespace), not both"
// +kubebuilder:validation:XValidation:rule="has(self.serves) || !has(self.answerTimeouts)",message="answerTimeouts are those of the sidecar, which a Root without serves does not have",fieldPath=".answerTimeouts"
type RootSpec struct {
	// PersistentVolumeClaim with the model's files.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ModelRef string `json:"modelRef"`

	// File of the weights in the volume.
	// +optional
	// +kubebuilder:default="model.m"
	// +kubebuilder:validation:MaxLength=255
	ModelFile string `json:"modelFile,omitempty"`

	// File of the tokenizer in the volume.
	// +optional
	// +kubebuilder:default="tokenizer.t"
	// +kubebuilder:validation:MaxLength=255
	TokenizerFile string `json:"tokenizerFile,omitempty"`

	// Image of the engine, with dllama-api on PATH. By default, and if it is Koldun's own, one node runs the embedded engine and several the image of distributed-llama that this version of Koldun names.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// Network policies of the pods: Enabled lets others reach only the ports that serve, and the pods only what they need. Defaults to Enabled.
	// +optional
	// +kubebuilder:validation:Enum=Enabled;Disabled
	NetworkPolicy NetworkPolicy `json:"networkPolicy,omitempty"`

	// When images are pulled.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// Further arguments of the engine.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Args []string `json:"args,omitempty"`

	// Addresses of the workers, HOST:PORT, in the order of the nodes. They may be outside of the cluster.
	// +optional
	// +kubebuilder:validation:MaxItems=1023
	// +kubebuilder:validation:items:MaxLength=261
	// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?:[0-9]{1,5}$`
	// +listType=atomic
	Workers []string `json:"workers,omitempty"`

	// Labels of the root's Workers in this namespace. Without labels the root has no workers.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	WorkerSelector map[string]string `json:"workerSelector,omitempty"`

	// Compute threads.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=512
	NThreads int32 `json:"nThreads,omitempty"`

	// Longest context in tokens.
	// +optional
	// +kubebuilder:default=4096
	// +kubebuilder:validation:Minimum=32
	MaxSeqLen int32 `json:"maxSeqLen,omitempty"`

	// Type of the values that nodes exchange: q80 for q40 weights, f32 for f32.
	// +optional
	// +kubebuilder:default=q80
	// +kubebuilder:validation:Enum=q80;f32
	BufferFloatType string `json:"bufferFloatType,omitempty"`

	// Model, NAMESPACE/NAME, whose requests the root answers. They are those of the Root's own namespace: a Model of another one has to list
	// it in allowedNamespaces, and clients here ask for it by its name. Without serves the root has no sidecar, and only clients in its own
	// pod reach it.
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`
	Serves string `json:"serves,omitempty"`

	// NATS servers of the queue. No effect without serves.
	// +optional
	NATS *NATSConnection `json:"nats,omitempty"`

	// CPU, memory and devices of the root.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// No effect: without a model's header there is no memory plan. Use resources.
	// +optional
	Memory *RootMemory `json:"memory,omitempty"`

	// Limits of the time of an answer. They need serves.
	// +optional
	AnswerTimeouts *AnswerTimeouts `json:"answerTimeouts,omitempty"`

	// Scheduling of the pod.
	// +optional
	Scheduling *Scheduling `json:"scheduling,omitempty"`

	PodEnv `json:",inline"`

	// No effect: the root reads the volume.
	// +optional
	CacheSpec *CacheSpec `json:"cacheSpec,omitempty"`
}

// RootStatus is the status of a Root.
type RootStatus struct {
	Status `json:",inline"`

	// HOST:PORT of health and metrics: of the sidecar, or of the engine without serves.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// Nodes of the topology: the root and its workers.
	// +optional
	Nodes int32 `json:"nodes,omitempty"`
}

// RootList is a list of Roots.
//
// +kubebuilder:object:root=true
type RootList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Root `json:"items"`
}
