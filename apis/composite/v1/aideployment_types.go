package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An AIDeployment runs an inference engine with its models: alone, as a Deployment with a Service and endpoints, or behind the queue of Koldun.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.deployment.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:scope=Namespaced,shortName=aidep,categories=koldun
// +kubebuilder:printcolumn:name="Engine",type=string,JSONPath=`.spec.engine.name`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.status`
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].reason`
type AIDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   AIDeploymentSpec   `json:"spec"`
	Status AIDeploymentStatus `json:"status,omitempty"`
}

// AIDeploymentSpec describes an AIDeployment.
//
// +kubebuilder:validation:XValidation:rule="self.engine.name in ['localai', 'triton', 'generic'] || has(self.models) && size(self.models) == 1",message="this engine serves exactly one model",fieldPath=".models"
// +kubebuilder:validation:XValidation:rule="!(self.engine.name in ['localai', 'triton']) || has(self.models) && size(self.models) > 0",message="this engine needs at least one model",fieldPath=".models"
// +kubebuilder:validation:XValidation:rule="self.engine.name != 'generic' || !has(self.models) || size(self.models) == 0",message="a generic engine gets its models by itself: describe them in args, env or deployment.template",fieldPath=".models"
// +kubebuilder:validation:XValidation:rule="self.engine.name != 'generic' || !has(self.endpoint) || self.endpoint.all(e, has(e.port))",message="a generic engine needs the port of each endpoint: it is the port that its container listens on",fieldPath=".endpoint",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="self.engine.name != 'generic' || has(self.deployment) && has(self.deployment.template)",message="a generic engine needs deployment.template, whose first container runs it",fieldPath=".deployment",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="self.engine.name == 'localai' || !has(self.models) || self.models.all(m, !has(m.engineConfigFile))",message="engineConfigFile is for engine localai",fieldPath=".models"
// +kubebuilder:validation:XValidation:rule="self.engine.name != 'triton' || has(self.gateway) || !has(self.models) || self.models.all(m, !has(m.uri) || m.uri.startsWith('http://') || m.uri.startsWith('https://') || has(self.modelSource))",message="engine triton loads a model repository from an http or https URL, or from modelSource",fieldPath=".models"
// +kubebuilder:validation:XValidation:rule="!has(self.autoscaling) || !has(self.deployment) || !has(self.deployment.replicas)",message="give either autoscaling or deployment.replicas, not both",fieldPath=".autoscaling"
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || !has(self.models) || size(self.models) == 1",message="behind the gateway an AIDeployment serves exactly one model",fieldPath=".models"
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || self.engine.name != 'generic'",message="a generic engine has no gateway: describe it in a Dllama, with engine.server",fieldPath=".gateway"
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) && self.engine.name != 'distributed-llama' || !has(self.autoscaling) && (!has(self.deployment) || !has(self.deployment.template) && !has(self.deployment.strategy) && !has(self.deployment.startupProbe) && !has(self.deployment.readinessProbe) && !has(self.deployment.livenessProbe) && (!has(self.deployment.replicas) || self.deployment.replicas == 1))",message="behind the gateway one Dllama runs the engine: autoscaling, deployment.template, deployment.strategy, probes and more than one replica are for an engine alone",fieldPath=".deployment"
// +kubebuilder:validation:XValidation:rule="has(self.gateway) || self.engine.name == 'distributed-llama' || !has(self.engine.nodes)",message="an engine alone runs on one node: give gateway too",fieldPath=".engine.nodes"
type AIDeploymentSpec struct {
	// Engine that runs the models.
	Engine AIDeploymentEngine `json:"engine"`

	// Models to serve.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	Models []AIDeploymentModel `json:"models,omitempty"`

	// Where the files of the models are. By default the engine downloads them when it starts.
	// +optional
	ModelSource *AIModelSource `json:"modelSource,omitempty"`

	// Volume with what the engine downloads and compiles. By default it ends with the pod.
	// +optional
	Cache *ServerCache `json:"cache,omitempty"`

	// Domains under which the Service is reached from outside of the cluster.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	Endpoint []AIDeploymentEndpoint `json:"endpoint,omitempty"`

	// Kind of object that leads to the domains. Defaults to a networking.k8s.io Ingress.
	// +optional
	Route *AIDeploymentRoute `json:"route,omitempty"`

	// Environment of the engine. It overrides that of the engine's description. Behind the gateway all pods have it: engine, workers, Jobs,
	// gateway and dispatcher; values then come from the claim, a Secret or a ConfigMap.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	Env []corev1.EnvVar `json:"env,omitempty"`

	// Secrets and ConfigMaps whose keys become variables of the same pods. Variables in env override them, and so do those that Koldun sets.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	EnvFrom []EnvFromSource `json:"envFrom,omitempty"`

	// Arguments after those of the engine's description.
	// +optional
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=4096
	// +listType=atomic
	Args []string `json:"args,omitempty"`

	// Service in front of the engine, or of the gateway.
	// +optional
	Service *AIDeploymentService `json:"service,omitempty"`

	// Ingress or HTTPRoute that leads to the domains.
	// +optional
	Ingress *AIDeploymentIngress `json:"ingress,omitempty"`

	// Pods of the engine.
	// +optional
	// +kubebuilder:default={}
	Deployment *AIDeploymentPods `json:"deployment,omitempty"`

	// Number of replicas by load. A HorizontalPodAutoscaler then owns the number.
	// +optional
	Autoscaling *AIDeploymentAutoscaling `json:"autoscaling,omitempty"`

	// Puts the engine behind the queue and gateway of Koldun, with API tokens: a Dllama and an Ingress of Koldun in place of the Deployment.
	// Engine distributed-llama always is behind them.
	// +optional
	Gateway *AIDeploymentGateway `json:"gateway,omitempty"`
}

// AIDeploymentEngine describes the engine.
type AIDeploymentEngine struct {
	// Name of the engine.
	Name AIEngineName `json:"name"`

	// Options of the engine.
	// +optional
	Options *AIDeploymentEngineOptions `json:"options,omitempty"`

	// Number of nodes over which a model is spread, for distributed-llama, and for vllm and sglang behind the gateway.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	Nodes *int32 `json:"nodes,omitempty"`

	// Longest context in tokens. Defaults to the engine's own.
	// +optional
	// +kubebuilder:validation:Minimum=32
	MaxSeqLen int32 `json:"maxSeqLen,omitempty"`
}

// AIDeploymentEngineOptions are options of an engine.
type AIDeploymentEngineOptions struct {
	// Repository of the engine's image, without a tag. Defaults to that of the engine's description.
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9][a-zA-Z0-9._:/-]*$`
	// +kubebuilder:validation:MaxLength=255
	ImageRepository string `json:"imageRepository,omitempty"`

	// Tag of the engine's image. Defaults to that of the engine's description, whose arguments are those of its version.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`
	// +kubebuilder:validation:MaxLength=128
	ImageTag string `json:"imageTag,omitempty"`

	// Number format in which the engine computes. It overrides the model's dataType.
	// +optional
	// +kubebuilder:validation:Pattern=`^[a-z0-9]+$`
	// +kubebuilder:validation:MaxLength=32
	Dtype string `json:"dtype,omitempty"`

	// Quantization of the weights. It overrides the model's quantization.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9_.-]*$`
	// +kubebuilder:validation:MaxLength=63
	Quantization string `json:"quantization,omitempty"`

	// Name under which clients ask for the model. Defaults to the model's name in its map, else to its uri. Behind the gateway it is
	// NAMESPACE/NAME, and this one is known to the engine only.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][^\s$]*$`
	// +kubebuilder:validation:MaxLength=255
	ServedName string `json:"servedName,omitempty"`
}

// AIDeploymentModel is a model: a variant of an AIModelMap, or data given here. Data given here overrides that of the variant, field by field.
//
// +kubebuilder:validation:XValidation:rule="has(self.modelMapRef) || has(self.uri) || has(self.engineConfigFile)",message="give modelMapRef or uri",fieldPath=".uri"
type AIDeploymentModel struct {
	// Variant of an AIModelMap.
	// +optional
	ModelMapRef *AIModelMapReference `json:"modelMapRef,omitempty"`

	AIModelData `json:",inline"`

	// No effect: engine.options and args have the options of the engine.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Options map[string]string `json:"options,omitempty"`
}

// AIModelMapReference names a variant of an AIModelMap.
type AIModelMapReference struct {
	// Namespace of the AIModelMap, which has to grant the use in spec.access.namespaces. Defaults to the namespace of the AIDeployment.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// Name of the AIModelMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Name of the variant, in the list of the engine.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Variant string `json:"variant"`
}

// AIModelSource names a volume with the files of the models. The uri of a model is then a path in it.
//
// +kubebuilder:validation:XValidation:rule="has(self.pvc) != has(self.modelDownloadRef)",message="give either pvc or modelDownloadRef"
type AIModelSource struct {
	// PersistentVolumeClaim of the namespace.
	// +optional
	PVC *AIModelVolume `json:"pvc,omitempty"`

	// ModelDownload of the namespace, whose volume has the files in folders by repository.
	// +optional
	ModelDownloadRef *corev1.LocalObjectReference `json:"modelDownloadRef,omitempty"`
}

// AIModelVolume is a volume with files of models.
type AIModelVolume struct {
	// Name of the PersistentVolumeClaim.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName"`
}

// AIDeploymentEndpoint is one domain.
type AIDeploymentEndpoint struct {
	// Domain of the endpoint.
	// +kubebuilder:validation:Pattern=`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +kubebuilder:validation:MaxLength=253
	Domain string `json:"domain"`

	// Port on which the container of a generic engine listens. The Service has that of the first endpoint. Other engines have ports of their
	// own.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`

	// Path prefix.
	// +optional
	// +kubebuilder:default="/"
	// +kubebuilder:validation:Pattern=`^/.*$`
	// +kubebuilder:validation:MaxLength=1024
	Path string `json:"path,omitempty"`
}

// AIDeploymentRoute is the kind of object that leads to the domains.
//
// +kubebuilder:validation:XValidation:rule="!has(self.kind) || (self.kind == 'HTTPRoute') == has(self.parentRefs)",message="kind HTTPRoute needs parentRefs, the Gateways to attach to, and Ingress has none",fieldPath=".parentRefs"
type AIDeploymentRoute struct {
	// Kind of the object.
	// +optional
	// +kubebuilder:default=Ingress
	// +kubebuilder:validation:Enum=Ingress;HTTPRoute
	Kind string `json:"kind,omitempty"`

	// Gateways of the Gateway API to attach to.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	ParentRefs []GatewayReference `json:"parentRefs,omitempty"`
}

// AIDeploymentService describes the Service.
type AIDeploymentService struct {
	// Labels of the Service.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations of the Service.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`

	// Type of the Service.
	// +optional
	// +kubebuilder:default=ClusterIP
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	Type string `json:"type,omitempty"`
}

// AIDeploymentIngress describes the Ingress or HTTPRoute.
type AIDeploymentIngress struct {
	// Labels of the object.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations of the object.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`

	// Whether the Ingress has a certificate for all domains. With an HTTPRoute, TLS ends at the Gateway.
	// +optional
	TLS bool `json:"tls,omitempty"`

	// Secret with the certificate. Defaults to NAME-tls.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	TLSSecretName string `json:"tlsSecretName,omitempty"`

	// Ingress class.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClassName string `json:"className,omitempty"`
}

// AIDeploymentGateway puts an engine behind the queue.
type AIDeploymentGateway struct {
	// Accepts requests without an API token. Use it only on trusted machines and networks.
	// +optional
	AllowAnonymous bool `json:"allowAnonymous,omitempty"`

	// Requests that the engine computes at once. Defaults to those of its profile.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	Slots int32 `json:"slots,omitempty"`

	// NATS servers of the queue.
	// +optional
	NATS *NATSConnection `json:"nats,omitempty"`
}

// AIDeploymentPods describes the pods of the engine.
//
// +kubebuilder:validation:XValidation:rule="has(self.accelerator) && self.accelerator.interface == 'CUDA' || !has(self.resources) || (!has(self.resources.requests) || !('nvidia.com/gpu' in self.resources.requests)) && (!has(self.resources.limits) || !('nvidia.com/gpu' in self.resources.limits))",message="nvidia.com/gpu needs accelerator with interface CUDA",fieldPath=".accelerator"
// +kubebuilder:validation:XValidation:rule="has(self.accelerator) && self.accelerator.interface == 'ROCm' || !has(self.resources) || (!has(self.resources.requests) || !('amd.com/gpu' in self.resources.requests)) && (!has(self.resources.limits) || !('amd.com/gpu' in self.resources.limits))",message="amd.com/gpu needs accelerator with interface ROCm",fieldPath=".accelerator"
type AIDeploymentPods struct {
	// Labels of the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations of the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`

	// GPU that the engine computes with.
	// +optional
	Accelerator *AIAccelerator `json:"accelerator,omitempty"`

	// CPU, memory and devices of the engine's container. The number of GPUs defaults to 1 with an accelerator.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// Required labels of nodes.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Number of pods. Without it, and without autoscaling, it starts at 1, and kubectl scale or another autoscaler sets it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1024
	Replicas *int32 `json:"replicas,omitempty"`

	// Pod template that is merged over the pods, as kubectl patch does: containers by name, of which the engine's is "serving".
	// +optional
	Template *AIDeploymentPodTemplate `json:"template,omitempty"`

	// Numbers of the startup probe.
	// +optional
	StartupProbe *AIProbe `json:"startupProbe,omitempty"`

	// Numbers of the readiness probe.
	// +optional
	ReadinessProbe *AIProbe `json:"readinessProbe,omitempty"`

	// Numbers of the liveness probe.
	// +optional
	LivenessProbe *AIProbe `json:"livenessProbe,omitempty"`

	// How new pods replace old ones. With GPUs for no more pods than there are, use type Recreate.
	// +optional
	Strategy *appsv1.DeploymentStrategy `json:"strategy,omitempty"`

	// Tolerations of the pods.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Affinity of the pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// Secrets of the namespace with credentials of image registries.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// When images are pulled.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// ServiceAccount of the pods. Its token is never mounted.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// Priority class of the pods.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// Runtime class of the pods. Defaults to nvidia with accelerator CUDA, but not with spec.gateway or engine distributed-llama; "none" is the cluster's default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	RuntimeClassName string `json:"runtimeClassName,omitempty"`
}

// AIAccelerator is a GPU.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minVersion) || self.interface == 'CUDA'",message="minVersion is the compute capability of GPUs with interface CUDA",fieldPath=".minVersion"
type AIAccelerator struct {
	// Interface of the GPU. CUDA takes nvidia.com/gpu, and ROCm amd.com/gpu.
	// +kubebuilder:validation:Enum=CUDA;ROCm
	Interface string `json:"interface"`

	// Least compute capability of the GPU. Pods run only on nodes whose labels nvidia.com/gpu.compute.major and .minor, of GPU feature
	// discovery, say that they have it.
	// +optional
	MinVersion *AIAcceleratorVersion `json:"minVersion,omitempty"`
}

// AIAcceleratorVersion is a compute capability.
type AIAcceleratorVersion struct {
	// Major version.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	Major int32 `json:"major"`

	// Minor version.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=99
	Minor int32 `json:"minor,omitempty"`
}

// AIProbe overrides numbers of a probe. Fields that are not given stay.
type AIProbe struct {
	// Seconds after the start of the container before the first probe.
	// +optional
	// +kubebuilder:validation:Minimum=0
	InitialDelaySeconds *int32 `json:"initialDelaySeconds,omitempty"`

	// Seconds after which a probe has failed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// Seconds between probes.
	// +optional
	// +kubebuilder:validation:Minimum=1
	PeriodSeconds *int32 `json:"periodSeconds,omitempty"`

	// Successes after which a failed probe has succeeded. It is 1 for startup and liveness probes.
	// +optional
	// +kubebuilder:validation:Minimum=1
	SuccessThreshold *int32 `json:"successThreshold,omitempty"`

	// Failures after which the probe has failed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	FailureThreshold *int32 `json:"failureThreshold,omitempty"`

	// Seconds that the container has to end after a failed startup or liveness probe. Readiness probes have none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
}
