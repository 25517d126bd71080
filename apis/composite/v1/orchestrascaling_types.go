package v1

import autoscalingv2 "k8s.io/api/autoscaling/v2"

// OrchestraScaling describes the scaling of an application. While it is enabled, replicaCount has no effect.
type OrchestraScaling struct {
	// Whether the application is scaled. Defaults to false.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// Scaler: a ScaledObject of KEDA by the gateway's queue, which is the default, or a HorizontalPodAutoscaler by the use of CPU. With backend
	// Koldun the queue scales, and neither exists.
	// +optional
	// +kubebuilder:validation:Enum=ScaledObject;HorizontalPodAutoscaler
	Type string `json:"type,omitempty"`

	// Metric of the ScaledObject.
	// +optional
	MetricTarget OrchestraMetricTarget `json:"metricTarget,omitempty"`

	// Used part of the requested CPU, in percent, at which a HorizontalPodAutoscaler keeps the pods. Defaults to 80.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	CPUUtilization *int32 `json:"cpuUtilization,omitempty"`

	// Annotations of the scaler.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`

	// Limits and times, as a ScaledObject names them.
	// +optional
	Spec OrchestraScalingSpec `json:"spec,omitempty"`
}

// OrchestraMetricTarget is the metric of a ScaledObject.
type OrchestraMetricTarget struct {
	// Name of the metric. Defaults to consumerGroupSize, the only one.
	// +optional
	// +kubebuilder:validation:Enum=consumerGroupSize
	Name string `json:"name,omitempty"`

	// Requests of the consumer group per reader. Defaults to 10.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Value *int32 `json:"value,omitempty"`
}

// OrchestraScalingSpec has limits and times of scaling.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicaCount) || !has(self.maxReplicaCount) || self.minReplicaCount <= self.maxReplicaCount",message="maxReplicaCount must not be less than minReplicaCount",fieldPath=".maxReplicaCount"
// +kubebuilder:validation:XValidation:rule="!has(self.idleReplicaCount) || !has(self.minReplicaCount) || self.idleReplicaCount < self.minReplicaCount",message="idleReplicaCount must be less than minReplicaCount",fieldPath=".idleReplicaCount"
type OrchestraScalingSpec struct {
	// Seconds between two looks at the metric. Defaults to 60.
	// +optional
	// +kubebuilder:validation:Minimum=1
	PollingInterval *int32 `json:"pollingInterval,omitempty"`

	// Seconds after the creation in which the application is not scaled to zero. Defaults to 300.
	// +optional
	// +kubebuilder:validation:Minimum=0
	InitialCooldownPeriod *int32 `json:"initialCooldownPeriod,omitempty"`

	// Seconds without requests before the application is scaled to zero. Defaults to 300.
	// +optional
	// +kubebuilder:validation:Minimum=0
	CooldownPeriod *int32 `json:"cooldownPeriod,omitempty"`

	// Replicas without requests: 0, which is all that KEDA supports. Defaults to minReplicaCount.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=0
	IdleReplicaCount *int32 `json:"idleReplicaCount,omitempty"`

	// Fewest replicas. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	MinReplicaCount *int32 `json:"minReplicaCount,omitempty"`

	// Most replicas. Defaults to 4, or to minReplicaCount if that is more.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	MaxReplicaCount *int32 `json:"maxReplicaCount,omitempty"`

	// Replicas while the metric cannot be read.
	// +optional
	Fallback *OrchestraScalingFallback `json:"fallback,omitempty"`

	// Further settings of the scaler.
	// +optional
	Advanced *OrchestraScalingAdvanced `json:"advanced,omitempty"`
}

// OrchestraScalingFallback is the number of replicas while the metric cannot be read.
type OrchestraScalingFallback struct {
	// Consecutive failures after which the fallback applies.
	// +kubebuilder:validation:Minimum=1
	FailureThreshold int32 `json:"failureThreshold"`

	// Replicas.
	// +kubebuilder:validation:Minimum=0
	Replicas int32 `json:"replicas"`
}

// OrchestraScalingAdvanced has further settings of the scaler.
type OrchestraScalingAdvanced struct {
	// Whether the number of replicas becomes that of the Deployment again when the ScaledObject is deleted.
	// +optional
	RestoreToOriginalReplicaCount *bool `json:"restoreToOriginalReplicaCount,omitempty"`

	// Settings of the HorizontalPodAutoscaler.
	// +optional
	HorizontalPodAutoscalerConfig *OrchestraHPAConfig `json:"horizontalPodAutoscalerConfig,omitempty"`
}

// OrchestraHPAConfig has settings of a HorizontalPodAutoscaler.
type OrchestraHPAConfig struct {
	// How fast the number of replicas changes.
	// +optional
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior,omitempty"`
}
