package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Runtime describes the nodes of a model.
type Runtime struct {
	// Power p of the number of nodes: 2^p nodes in all, the root among them, so 2^p - 1 workers. 0 is a single node. Defaults to the
	// Model's replicaPower.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	ReplicaPower *int32 `json:"replicaPower,omitempty"`

	// Number of nodes, including the root: any number that divides the model. Alternative to replicaPower.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	Nodes *int32 `json:"nodes,omitempty"`

	// Image of the root pod's engine, with dllama-api on PATH. Defaults to workerImage, else to the image of the engine that this version of
	// Koldun names. Koldun's own image counts as none. With a server it is the image of the server, and defaults to that of the server's
	// profile.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	RootImage string `json:"rootImage,omitempty"`

	// Image of the worker pods' engine, with dllama on PATH. Defaults to rootImage.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	WorkerImage string `json:"workerImage,omitempty"`

	// Network policies of the pods: Enabled lets others reach only the ports that serve, and the pods only what they need. Defaults to Enabled.
	// +optional
	// +kubebuilder:validation:Enum=Enabled;Disabled
	NetworkPolicy NetworkPolicy `json:"networkPolicy,omitempty"`

	// When images are pulled.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// Settings of the engine.
	// +optional
	// +kubebuilder:default={}
	Engine Engine `json:"engine,omitempty"`

	// Delivery of the model's files to the root: fetch reads them from the object store to an empty volume before the engine starts; pvc and
	// csi mount the volume of the Model.
	// +optional
	// +kubebuilder:validation:Enum=fetch;pvc;csi
	Delivery string `json:"delivery,omitempty"`

	// CPU, memory and devices such as GPUs of the root. Memory defaults to the plan that is made from the model's header.
	// +optional
	RootResources *corev1.ResourceRequirements `json:"rootResources,omitempty"`

	// CPU, memory and devices such as GPUs of each worker. Memory defaults to the plan that is made from the model's header.
	// +optional
	WorkerResources *corev1.ResourceRequirements `json:"workerResources,omitempty"`

	// Memory of the root beyond the plan.
	// +optional
	RootMemory *RootMemory `json:"rootMemory,omitempty"`

	// Limits of the time of an answer.
	// +optional
	AnswerTimeouts *AnswerTimeouts `json:"answerTimeouts,omitempty"`

	// Scheduling of the pods.
	// +optional
	Scheduling *Scheduling `json:"scheduling,omitempty"`

	PodEnv `json:",inline"`
}

// AnswerTimeouts limit the time of an answer by the engine. The gateway has limits of its own: responseTimeout and queueTimeout.
type AnswerTimeouts struct {
	// Maximum time to the first token. Defaults to 30m.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="the least is 1s"
	FirstToken *metav1.Duration `json:"firstToken,omitempty"`

	// Maximum time between two tokens. Defaults to 10m.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="the least is 1s"
	BetweenTokens *metav1.Duration `json:"betweenTokens,omitempty"`

	// Time in which running answers may end when the pod stops. Requests that are not done by then start again on another runner, or fail if
	// they had a token. Defaults to 25s.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('1h')",message="from 1s to 1h"
	Grace *metav1.Duration `json:"grace,omitempty"`
}

// RootMemory increases the memory plan of the root.
type RootMemory struct {
	// Factor for the plan of the root, at least 1.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=number
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=16
	OverheadMaxRatio float64 `json:"overheadMaxRatio,omitempty"`
}

// Engine has the settings of the inference engine.
//
// +kubebuilder:validation:XValidation:rule="has(self.server) == (has(self.type) && self.type == 'openai')",message="server describes the server of type openai, which needs it, and of no other type",fieldPath=".server"
// +kubebuilder:validation:XValidation:rule="!has(self.server) || !(has(self.bufferFloatType) || has(self.netTurbo) || has(self.gpuIndex) || has(self.extraArgs))",message="bufferFloatType, netTurbo, gpuIndex and extraArgs have no effect on a server: use server.args, server.env and rootResources",fieldPath=".server"
// +kubebuilder:validation:XValidation:rule="!has(self.server) || !has(self.server.url) || !has(self.maxSeqLen)",message="maxSeqLen has no effect on a server outside the pods",fieldPath=".maxSeqLen"
type Engine struct {
	// Engine: embedded is Koldun's own, on one node; distributed-llama spreads a model over nodes; openai is the OpenAI-compatible server that
	// the field server describes. Defaults to distributed-llama on several nodes and when an image other than Koldun's own is named, else to
	// embedded.
	// +optional
	Type EngineType `json:"type,omitempty"`

	// OpenAI-compatible server that answers requests, of type openai.
	// +optional
	Server *Server `json:"server,omitempty"`

	// Compute threads of each node. A server chooses their number itself with 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=512
	Threads int32 `json:"threads,omitempty"`

	// Longest context in tokens; the engine allocates its memory at the start. Defaults to the model's own, at most 4096; a server has its own
	// default.
	// +optional
	// +kubebuilder:validation:Minimum=32
	MaxSeqLen int32 `json:"maxSeqLen,omitempty"`

	// Requests that the embedded engine computes at the same time. Defaults to 4. They share memory for one context, or for 1024 tokens each
	// if that is more. distributed-llama computes one, and server.slots sets those of a server. With ingressRef it
	// is the number of concurrent requests to the other gateway, and defaults to 16.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	Slots int32 `json:"slots,omitempty"`

	// Type of the values that nodes exchange: q80 for q40 weights, f32 for f32. Follows from the weights when it is not given.
	// +optional
	// +kubebuilder:validation:Enum=q80;f32
	BufferFloatType string `json:"bufferFloatType,omitempty"`

	// Whether sockets are busy-polled, which is faster on dedicated cores and much slower under a CPU limit. Defaults to true if root and
	// workers have equal requests and limits of whole CPUs, else to false.
	// +optional
	NetTurbo *bool `json:"netTurbo,omitempty"`

	// Index of the GPU for distributed-llama, for images with Vulkan.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=63
	GPUIndex *int32 `json:"gpuIndex,omitempty"`

	// Further arguments of distributed-llama on every node, as pairs of option and value.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	ExtraArgs []string `json:"extraArgs,omitempty"`
}

// Scheduling describes the placement and identity of pods.
type Scheduling struct {
	// Required labels of nodes.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Tolerations of the pods.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Affinity of the pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// Spreading of pods over failure domains. The default of labelSelector selects the pods of the same component.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// Secrets of the namespace with credentials of image registries.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// ServiceAccount of the pods. Its token is never mounted.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// Priority class of the pods.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// Runtime class of the pods, such as nvidia. Defaults to that of the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	RuntimeClassName string `json:"runtimeClassName,omitempty"`
}
