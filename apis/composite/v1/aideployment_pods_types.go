package v1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// AIDeploymentPodTemplate is merged over the pods of an AIDeployment.
type AIDeploymentPodTemplate struct {
	// Labels and annotations of the pods.
	// +optional
	Metadata *AIDeploymentPodMetadata `json:"metadata,omitempty"`

	// Spec of a pod. The function refuses fields that pods do not have.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Spec *runtime.RawExtension `json:"spec,omitempty"`
}

// AIDeploymentPodMetadata has labels and annotations.
type AIDeploymentPodMetadata struct {
	// Labels of the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations of the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`
}

// AIDeploymentAutoscaling sets the number of replicas by load.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.maxReplicas >= self.minReplicas",message="maxReplicas must not be less than minReplicas",fieldPath=".maxReplicas"
type AIDeploymentAutoscaling struct {
	// Minimum number of pods.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// Maximum number of pods.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	MaxReplicas int32 `json:"maxReplicas"`

	// Metrics by which the number follows. Defaults to 80 % of the requested CPU.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	Metrics []autoscalingv2.MetricSpec `json:"metrics,omitempty"`

	// How fast the number changes.
	// +optional
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior,omitempty"`
}

// AIDeploymentStatus is the status of an AIDeployment.
type AIDeploymentStatus struct {
	Status `json:",inline"`

	// Phase: Ready, NotReady or Failed. Failed needs a change by a user.
	// +optional
	// +kubebuilder:validation:Enum=Ready;NotReady;Failed
	Phase string `json:"status,omitempty"`

	// Why the status is Failed.
	// +optional
	ErrMsg string `json:"errMsg,omitempty"`

	// URLs of the endpoints.
	// +optional
	// +listType=atomic
	Endpoints []string `json:"endpoints,omitempty"`

	// URL inside of the cluster: of the Service, or of the gateway's API.
	// +optional
	URL string `json:"url,omitempty"`

	// Models that the engine serves, after maps are resolved.
	// +optional
	// +listType=atomic
	ResolvedModels []AIResolvedModel `json:"resolvedModels,omitempty"`

	// Number of pods.
	// +optional
	Replicas int32 `json:"replicas"`

	// Number of pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// Selector of the pods, for autoscalers.
	// +optional
	Selector string `json:"selector,omitempty"`
}

// AIResolvedModel is a model after maps are resolved.
type AIResolvedModel struct {
	// Name under which clients ask for the model.
	Name string `json:"name"`

	// AIModelMap of the variant, NAMESPACE/NAME.
	// +optional
	ModelMap string `json:"modelMap,omitempty"`

	// Variant of the map.
	// +optional
	Variant string `json:"variant,omitempty"`

	// Where the model is.
	// +optional
	URI string `json:"uri,omitempty"`

	// Branch, tag or commit.
	// +optional
	Revision string `json:"revision,omitempty"`

	// Number format.
	// +optional
	DataType string `json:"dataType,omitempty"`

	// Quantization.
	// +optional
	Quantization string `json:"quantization,omitempty"`
}

// AIDeploymentList is a list of AIDeployments.
//
// +kubebuilder:object:root=true
type AIDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AIDeployment `json:"items"`
}
