package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkloadStatusParameters select pods.
type WorkloadStatusParameters struct {
	// Labels of the pods, in the namespace of the WorkloadStatus. StatefulSets, Deployments and Jobs with these labels are watched too.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	Selector map[string]string `json:"selector"`

	// Name of the container port on which pods answer GET /progress. Pods are asked until they are ready; those of Jobs, until they end. Empty asks none.
	// +optional
	// +kubebuilder:validation:MaxLength=15
	ProgressPort string `json:"progressPort,omitempty"`

	// Pods that will exist later. Until then the problem may be that the nodes have no room for them.
	// +optional
	// +listType=map
	// +listMapKey=component
	// +kubebuilder:validation:MaxItems=8
	Planned []PlannedPods `json:"planned,omitempty"`
}

// PlannedPods are the pods of one component, before they exist.
type PlannedPods struct {
	// Component: the value of the label koldun.gorizond.io/component of the pods, such as root or worker.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Component string `json:"component"`

	// Number of pods.
	// +kubebuilder:validation:Minimum=1
	Count int32 `json:"count"`

	// Requests of each pod. The nodes are compared with their sum by what they have allocatable, and what other pods request of it.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`

	// Required labels of nodes.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Tolerations of the pods.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
}

// WorkloadStatusObservation is the problem that keeps pods from running, which is empty if there is none, and their progress.
type WorkloadStatusObservation struct {
	// Reason of the problem, such as ImageUnavailable or OutOfMemory.
	// +optional
	Reason string `json:"reason,omitempty"`

	// What is wrong, with which object, and how to mend it.
	// +optional
	Message string `json:"message,omitempty"`

	// Name of the pod. Empty if it could not be created.
	// +optional
	Pod string `json:"pod,omitempty"`

	// Progress of the pods that download or load something. It lags behind by up to 30 seconds.
	// +optional
	// +listType=map
	// +listMapKey=pod
	Progress []PodProgress `json:"progress,omitempty"`
}

// PodProgress is the progress of one pod.
type PodProgress struct {
	// Name of the pod.
	Pod string `json:"pod"`

	// Stage: fetch, convert or load.
	// +optional
	Stage string `json:"stage,omitempty"`

	// Bytes done. Empty if the work is not counted in bytes.
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
}

// A WorkloadStatus watches the pods with some labels and says what keeps them from running: images that cannot be pulled, nodes without room,
// missing Secrets, exhausted memory, quotas. Its status changes only with the problem, if that lasts for some seconds, and a few times while pods make progress. It is observed only.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=workloadstatuses,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.atProvider.reason`
// +kubebuilder:printcolumn:name="Pod",type=string,JSONPath=`.status.atProvider.pod`
type WorkloadStatus struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WorkloadStatusSpec   `json:"spec"`
	Status WorkloadStatusStatus `json:"status,omitempty"`
}

// WorkloadStatusSpec is the desired state of a WorkloadStatus.
type WorkloadStatusSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider WorkloadStatusParameters `json:"forProvider"`
}

// WorkloadStatusStatus is the observed state of a WorkloadStatus.
type WorkloadStatusStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider WorkloadStatusObservation `json:"atProvider,omitempty"`
}

// WorkloadStatusList is a list of WorkloadStatuses.
//
// +kubebuilder:object:root=true
type WorkloadStatusList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []WorkloadStatus `json:"items"`
}
