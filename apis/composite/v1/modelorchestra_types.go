package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A ModelOrchestra serves applications behind one gateway: readers of the vendor's image Takeoff, or models on Koldun's own queue and engines.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=modelorchestras,shortName=morc,categories=koldun
// +kubebuilder:printcolumn:name="Applications",type=integer,JSONPath=`.status.total`
// +kubebuilder:printcolumn:name="Available",type=integer,JSONPath=`.status.available`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].reason`
type ModelOrchestra struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ModelOrchestraSpec   `json:"spec,omitempty"`
	Status ModelOrchestraStatus `json:"status,omitempty"`
}

// ModelOrchestraSpec describes a ModelOrchestra.
//
// +kubebuilder:validation:XValidation:rule="has(self.backend) && self.backend == 'Koldun' || !(has(self.nats) || has(self.allowAnonymous))",message="nats and allowAnonymous are for backend Koldun",fieldPath=".backend"
// +kubebuilder:validation:XValidation:rule="has(self.backend) && self.backend == 'Koldun' || !has(self.applicationTemplate) || !(has(self.applicationTemplate.engine) || has(self.applicationTemplate.nodes) || has(self.applicationTemplate.modelRef))",message="engine, nodes and modelRef are for backend Koldun",fieldPath=".applicationTemplate"
// +kubebuilder:validation:XValidation:rule="has(self.backend) && self.backend == 'Koldun' || !has(self.applications) || self.applications.all(k, !(has(self.applications[k].engine) || has(self.applications[k].nodes) || has(self.applications[k].modelRef)))",message="engine, nodes and modelRef are for backend Koldun",fieldPath=".applications"
type ModelOrchestraSpec struct {
	// What runs the applications: Takeoff is the vendor's gateway and readers; Koldun is its own gateway, queue and engines, with a Session for
	// each application. Its consumer group is then the name of the model.
	// +optional
	// +kubebuilder:default=Takeoff
	// +kubebuilder:validation:Enum=Takeoff;Koldun
	Backend string `json:"backend,omitempty"`

	// Accepts requests without an API token, with backend Koldun. Use it only on trusted machines and networks.
	// +optional
	AllowAnonymous bool `json:"allowAnonymous,omitempty"`

	// NATS servers of the queue, with backend Koldun.
	// +optional
	NATS *NATSConnection `json:"nats,omitempty"`

	// Secrets of the namespace with credentials of image registries.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// Replaces model-orchestra in the names of objects.
	// +optional
	// +kubebuilder:validation:Pattern=`^([a-z]([-a-z0-9]*[a-z0-9])?)?$`
	// +kubebuilder:validation:MaxLength=63
	NameOverride string `json:"nameOverride,omitempty"`

	// Begins the names of all objects. Defaults to the name of the ModelOrchestra, with -model-orchestra unless the name contains it.
	// +optional
	// +kubebuilder:validation:Pattern=`^([a-z]([-a-z0-9]*[a-z0-9])?)?$`
	// +kubebuilder:validation:MaxLength=63
	FullnameOverride string `json:"fullnameOverride,omitempty"`

	// ServiceAccount of all pods.
	// +optional
	ServiceAccount *OrchestraServiceAccount `json:"serviceAccount,omitempty"`

	// The only entry point of the applications.
	// +optional
	Gateway OrchestraGateway `json:"gateway,omitempty"`

	// Settings of all applications. Those of an application are merged into them, field by field; lists of the application replace those of the
	// template, but for env, which is merged by name.
	// +optional
	ApplicationTemplate OrchestraApplication `json:"applicationTemplate,omitempty"`

	// Applications by name, a DNS label other than gateway.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 63 && k.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'))",message="names of applications are DNS labels: up to 63 lower-case letters, digits and dashes"
	// +kubebuilder:validation:XValidation:rule="!('gateway' in self)",message="the name gateway is that of the gateway's own objects"
	Applications map[string]OrchestraApplication `json:"applications,omitempty"`
}

// OrchestraServiceAccount describes the ServiceAccount of all pods.
type OrchestraServiceAccount struct {
	// Whether to create the ServiceAccount. Defaults to true.
	// +optional
	Create *bool `json:"create,omitempty"`

	// Whether to mount the token of the ServiceAccount. Defaults to false: neither gateway nor readers call Kubernetes.
	// +optional
	Automount *bool `json:"automount,omitempty"`

	// Annotations of the ServiceAccount.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`

	// Name of the ServiceAccount. Defaults to the full name if it is created, else to default.
	// +optional
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-.a-z0-9]*[a-z0-9])?)?$`
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// OrchestraGateway describes the gateway.
type OrchestraGateway struct {
	// Settings of the gateway's server.
	// +optional
	Config OrchestraServerConfig `json:"config,omitempty"`

	OrchestraPod `json:",inline"`

	// Whether to create a ServiceMonitor for the metrics of the gateway.
	// +optional
	ExportPrometheusMetrics bool `json:"exportPrometheusMetrics,omitempty"`
}

// An OrchestraApplication is one or more replicas of a model. A field that is not given has the value of applicationTemplate.
type OrchestraApplication struct {
	// The model, and how a reader serves it.
	// +optional
	ReaderConfig OrchestraReaderConfig `json:"readerConfig,omitempty"`

	// Volume of the models, mounted at /code/models. It replaces that of the template as a whole. Defaults to an empty folder on the node's
	// disk.
	// +optional
	ModelsVolume *OrchestraModelsVolume `json:"modelsVolume,omitempty"`

	// Scaling of the application.
	// +optional
	Scaling OrchestraScaling `json:"scaling,omitempty"`

	OrchestraPod `json:",inline"`

	// Engine of the application, with backend Koldun. It replaces that of the template as a whole. Defaults to vllm on devices cuda, else to
	// that of a Dllama.
	// +optional
	Engine *Engine `json:"engine,omitempty"`

	// Nodes of each Dllama, with backend Koldun.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	Nodes *int32 `json:"nodes,omitempty"`

	// Existing Model to serve, with backend Koldun, instead of readerConfig.modelName.
	// +optional
	ModelRef *ModelReference `json:"modelRef,omitempty"`
}

// ModelOrchestraStatus is the status of a ModelOrchestra.
type ModelOrchestraStatus struct {
	Status `json:",inline"`

	// Base URL of the OpenAI-compatible API.
	// +optional
	URL string `json:"url,omitempty"`

	// Service in front of the gateway.
	// +optional
	GatewayServiceName string `json:"gatewayServiceName,omitempty"`

	// Applications.
	// +optional
	Total int32 `json:"total"`

	// Applications with a ready replica.
	// +optional
	Available int32 `json:"available"`

	// State of each application, in the order of their names.
	// +optional
	// +listType=map
	// +listMapKey=name
	Applications []OrchestraApplicationStatus `json:"applications,omitempty"`
}

// OrchestraApplicationStatus is the state of one application.
type OrchestraApplicationStatus struct {
	// Name of the application.
	Name string `json:"name"`

	// Consumer group, by which clients name the model.
	// +optional
	Model string `json:"model,omitempty"`

	// Whether a replica is ready.
	// +optional
	Ready bool `json:"ready"`
}

// ModelOrchestraList is a list of ModelOrchestras.
//
// +kubebuilder:object:root=true
type ModelOrchestraList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ModelOrchestra `json:"items"`
}
