package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// An Ingress is an OpenAI-compatible endpoint for the models of a namespace: gateway, durable queue and dispatcher.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=king,categories=koldun
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].reason`
type Ingress struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   IngressSpec   `json:"spec,omitempty"`
	Status IngressStatus `json:"status,omitempty"`
}

// IngressSpec describes an Ingress.
type IngressSpec struct {
	// Gateway and dispatcher.
	// +optional
	// +kubebuilder:default={}
	Backend Backend `json:"backend,omitempty"`

	// The Service in front of the gateway.
	// +optional
	// +kubebuilder:default={}
	Service IngressService `json:"service,omitempty"`

	// The way from outside of the cluster. Without it the endpoint is reachable through the Service alone.
	// +optional
	Route *Route `json:"route,omitempty"`
}

// Backend describes gateway and dispatcher.
type Backend struct {
	// Image of gateway and dispatcher. Defaults to the package's image.
	// +optional
	Image string `json:"image,omitempty"`

	// Answers requests without an API token. Only for machines and networks where every caller may ask.
	// +optional
	AllowAnonymous bool `json:"allowAnonymous,omitempty"`

	// Longest time for one answer, from the moment the engine starts on it; waiting and cold start do not count.
	// +optional
	// +kubebuilder:default="10m"
	ResponseTimeout *metav1.Duration `json:"responseTimeout,omitempty"`

	// Longest time that a request waits for its turn.
	// +optional
	// +kubebuilder:default="1h"
	QueueTimeout *metav1.Duration `json:"queueTimeout,omitempty"`
}

// IngressService describes the Service in front of the gateway.
type IngressService struct {
	// Type of the Service.
	// +optional
	// +kubebuilder:default=ClusterIP
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	Type string `json:"type,omitempty"`

	// Port of the Service.
	// +optional
	// +kubebuilder:default=8082
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
}

// Route describes a networking.k8s.io Ingress.
type Route struct {
	// Host name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Host string `json:"host"`

	// Path prefix.
	// +optional
	// +kubebuilder:default="/"
	// +kubebuilder:validation:Pattern=`^/.*$`
	Path string `json:"path,omitempty"`

	// Ingress class.
	// +optional
	IngressClassName string `json:"ingressClassName,omitempty"`
}

// IngressStatus is what an Ingress reports.
type IngressStatus struct {
	Status `json:",inline"`

	// Base URL of the OpenAI-compatible API.
	// +optional
	URL string `json:"url,omitempty"`

	// Service in front of the gateway.
	// +optional
	BackendServiceName string `json:"backendServiceName,omitempty"`
}

// IngressList is a list of Ingresses.
//
// +kubebuilder:object:root=true
type IngressList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Ingress `json:"items"`
}
