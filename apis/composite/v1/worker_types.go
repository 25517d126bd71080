package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Worker is a group of workers for a root in or outside of the cluster. Workers need no files: the root sends them their share.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=wrk,categories=koldun
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.status.replicas`
// +kubebuilder:printcolumn:name="ReadyWorkers",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].reason`
type Worker struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WorkerSpec   `json:"spec"`
	Status WorkerStatus `json:"status,omitempty"`
}

// WorkerSpec describes a Worker.
type WorkerSpec struct {
	// Number of worker pods.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1023
	Replicas *int32 `json:"replicas,omitempty"`

	// Image of the engine, with dllama on PATH. Defaults to the image of distributed-llama that this version of Koldun names.
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

	// Root of the workers in this namespace. Only its pods and the other workers may connect to them. Without it, every pod of the namespace
	// and the networks in rootCIDRs may.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	RootRef string `json:"rootRef,omitempty"`

	// Networks of roots outside of the cluster.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:items:Pattern=`^[0-9a-fA-F.:]+/[0-9]{1,3}$`
	// +listType=atomic
	RootCIDRs []string `json:"rootCIDRs,omitempty"`

	// Compute threads of each worker.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=512
	NThreads int32 `json:"nThreads,omitempty"`

	// CPU, memory and devices of each worker.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// Time in which the root may finish running answers when the pods stop, as answerTimeouts.grace of the root. Defaults to 25s.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('1h')",message="from 1s to 1h"
	AnswerGrace *metav1.Duration `json:"answerGrace,omitempty"`

	// Scheduling of the pods.
	// +optional
	Scheduling *Scheduling `json:"scheduling,omitempty"`

	PodEnv `json:",inline"`

	// No effect: workers need no files.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ModelRef string `json:"modelRef,omitempty"`

	// No effect: a StatefulSet numbers its pods.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Slot int32 `json:"slot,omitempty"`

	// No effect: workers need no files.
	// +optional
	CacheSpec *CacheSpec `json:"cacheSpec,omitempty"`

	// No effect: workers communicate only with their root.
	// +optional
	NATS *NATSConnection `json:"nats,omitempty"`
}

// WorkerStatus is the status of a Worker.
type WorkerStatus struct {
	Status `json:",inline"`

	// Desired worker pods.
	// +optional
	Replicas int32 `json:"replicas"`

	// Ready worker pods.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// Addresses of the workers for a root.
	// +optional
	// +listType=atomic
	Addresses []string `json:"addresses,omitempty"`
}

// WorkerList is a list of Workers.
//
// +kubebuilder:object:root=true
type WorkerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Worker `json:"items"`
}
