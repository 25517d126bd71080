package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An Ingress is an OpenAI-compatible endpoint for the models of a namespace: gateway, durable queue and dispatcher.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=king,categories=koldun
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Host",type=string,JSONPath=`.spec.route.host`,priority=1
// +kubebuilder:printcolumn:name="Sessions",type=integer,JSONPath=`.status.sessions`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].reason`
type Ingress struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   IngressSpec   `json:"spec,omitempty"`
	Status IngressStatus `json:"status,omitempty"`
}

// IngressSpec describes an Ingress.
type IngressSpec struct {
	// Gateway, dispatcher, and the pools that demand creates.
	// +optional
	// +kubebuilder:default={}
	Backend Backend `json:"backend,omitempty"`

	// The Service in front of the gateway.
	// +optional
	// +kubebuilder:default={}
	Service IngressService `json:"service,omitempty"`

	// Route from outside of the cluster. Without it, the endpoint is reachable only through the Service.
	// +optional
	Route *Route `json:"route,omitempty"`
}

// Backend describes gateway, dispatcher, and the pools that demand creates.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.nodes) && has(self.replicaPower) && self.replicaPower > 0)",message="give either nodes or replicaPower, not both",fieldPath=".nodes"
// +kubebuilder:validation:XValidation:rule="!(has(self.hashSecret) && has(self.hashSecretRef))",message="give either hashSecret or hashSecretRef, not both",fieldPath=".hashSecret"
type Backend struct {
	GatewaySettings `json:",inline"`

	Runtime `json:",inline"`

	// How pools of Dllamas are created: OnDemand creates a Session for each model in demand; Static creates none, for Sessions and Dllamas
	// that are managed separately.
	// +optional
	// +kubebuilder:default=OnDemand
	// +kubebuilder:validation:Enum=OnDemand;Static
	Sessions string `json:"sessions,omitempty"`

	// Which requests share a pool: all requests for a model, those of one API token, or those of one conversation.
	// +optional
	// +kubebuilder:default=model
	// +kubebuilder:validation:Enum=model;token;conversation
	Isolation string `json:"isolation,omitempty"`

	// Maximum isolated pools. Further requests share the pool of their model.
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	MaxSessions int32 `json:"maxSessions,omitempty"`

	// Size of each pool.
	// +optional
	SessionScaling *Scaling `json:"sessionScaling,omitempty"`

	// Time for which a pool is kept after its last request.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="the least is 1s"
	ConversationTTL *metav1.Duration `json:"conversationTTL,omitempty"`

	// Key of the HMAC that identifies conversations, plain or as base64:KEY. It is moved to a Secret; hashSecretRef keeps it out of the claim
	// as well.
	// +optional
	// +kubebuilder:validation:Format=password
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	HashSecret string `json:"hashSecret,omitempty"`

	// Key of the HMAC that identifies conversations.
	// +optional
	HashSecretRef *SecretKeyReference `json:"hashSecretRef,omitempty"`

	// NATS servers of the queue.
	// +optional
	NATS *IngressNATS `json:"nats,omitempty"`

	// No effect: the dispatcher always serves its metrics.
	// +optional
	// +kubebuilder:validation:MaxLength=261
	DispatcherMetricsListen string `json:"dispatcherMetricsListen,omitempty"`
}

// IngressNATS is the connection to the NATS servers.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.url) && has(self.providerConfigRef))",message="give either url or providerConfigRef, not both",fieldPath=".url"
type IngressNATS struct {
	// URL of the servers: nats://[USER:PASSWORD@]HOST:PORT, several separated by commas. A password in it is moved to a Secret.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`

	// Secret with user and password, or a credentials file under the key "creds".
	// +optional
	CredentialsSecret *SecretReference `json:"credentialsSecret,omitempty"`

	// ProviderConfig or ClusterProviderConfig with the connection.
	// +optional
	ProviderConfigRef *ProviderConfigReference `json:"providerConfigRef,omitempty"`

	// No effect: there is no bucket of conversations.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	KVBucket string `json:"kvBucket,omitempty"`

	// No effect: the bucket of models is koldun_models.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	ModelsBucket string `json:"modelsBucket,omitempty"`

	// No effect: the bucket of tokens is koldun_tokens.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	TokensBucket string `json:"tokensBucket,omitempty"`

	// No effect: keys of models begin with model/.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	ModelPrefix string `json:"modelPrefix,omitempty"`

	// No effect: keys of tokens begin with token/.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	TokenPrefix string `json:"tokenPrefix,omitempty"`

	// No effect: there is no bucket of conversations.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	TTLPrefix string `json:"ttlPrefix,omitempty"`
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

	// Annotations of the Service.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Route describes the route from outside of the cluster: a networking.k8s.io Ingress, or an HTTPRoute if gateways are given.
type Route struct {
	// Host name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Host string `json:"host"`

	// Path prefix. The gateway answers below it, also if the controller does not remove it.
	// +optional
	// +kubebuilder:default="/"
	// +kubebuilder:validation:Pattern=`^/.*$`
	// +kubebuilder:validation:MaxLength=1024
	Path string `json:"path,omitempty"`

	// Match of the path: Prefix, Exact or ImplementationSpecific.
	// +optional
	// +kubebuilder:default=Prefix
	// +kubebuilder:validation:Enum=Prefix;Exact;ImplementationSpecific;prefix;exact
	PathType string `json:"pathType,omitempty"`

	// Ingress class.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	IngressClassName string `json:"ingressClassName,omitempty"`

	// Annotations of the Ingress or HTTPRoute.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`

	// Secrets with certificates, by host. With a gateway, TLS ends there.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	TLS []RouteTLS `json:"tls,omitempty"`

	// Gateways of the Gateway API to attach to. With gateways the route is an HTTPRoute.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	Gateways []GatewayReference `json:"gateways,omitempty"`
}

// RouteTLS names a certificate.
type RouteTLS struct {
	// Secret with tls.crt and tls.key.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName,omitempty"`

	// Hosts of the certificate. Defaults to the route's host.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	Hosts []string `json:"hosts,omitempty"`
}

// GatewayReference names a Gateway.
type GatewayReference struct {
	// Name of the Gateway.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the Gateway. Defaults to the Ingress's.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// Listener of the Gateway. Defaults to all that accept the host.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SectionName string `json:"sectionName,omitempty"`
}

// IngressStatus is the status of an Ingress.
type IngressStatus struct {
	Status `json:",inline"`

	// Base URL of the OpenAI-compatible API.
	// +optional
	URL string `json:"url,omitempty"`

	// Service in front of the gateway.
	// +optional
	BackendServiceName string `json:"backendServiceName,omitempty"`

	// Public key of the NATS account of the namespace, if the servers are in operator mode.
	// +optional
	NATSAccount string `json:"natsAccount,omitempty"`

	// TCP ports that clients of NATS need.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=128
	NATSPorts []int32 `json:"natsPorts,omitempty"`

	// Ingress or HTTPRoute of the route.
	// +optional
	IngressName string `json:"ingressName,omitempty"`

	// Pools that demand has created.
	// +optional
	Sessions int32 `json:"sessions"`

	// Valid API tokens.
	// +optional
	Tokens int32 `json:"tokens,omitempty"`
}

// IngressList is a list of Ingresses.
//
// +kubebuilder:object:root=true
type IngressList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Ingress `json:"items"`
}
