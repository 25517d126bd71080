package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GatewaySettings describe gateway, dispatcher and queue of an endpoint.
type GatewaySettings struct {
	// Image of gateway and dispatcher. Defaults to the package's image.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// Image of the dispatcher. Defaults to image.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	DispatcherImage string `json:"dispatcherImage,omitempty"`

	// Pods of the gateway.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	Replicas int32 `json:"replicas,omitempty"`

	// CPU and memory of each pod of gateway and dispatcher. The limit of memory defaults to what their settings let them take, such as
	// queue.maxBytes.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// Scheduling of gateway and dispatcher. Set that of the models in scheduling.
	// +optional
	BackendScheduling *Scheduling `json:"backendScheduling,omitempty"`

	// Environment of gateway and dispatcher, such as KOLDUN_LOG_LEVEL and OTEL_EXPORTER_OTLP_ENDPOINT.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	BackendEnv []EnvVar `json:"backendEnv,omitempty"`

	// Secrets and ConfigMaps whose keys become variables of gateway and dispatcher. Variables in backendEnv override them, and so do Koldun's
	// own.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	BackendEnvFrom []EnvFromSource `json:"backendEnvFrom,omitempty"`

	// Accepts requests without an API token. Use it only on trusted machines and networks.
	// +optional
	AllowAnonymous bool `json:"allowAnonymous,omitempty"`

	// Refuses requests with parameters that the engine ignores, instead of listing them in the header x-koldun-ignored.
	// +optional
	StrictParameters bool `json:"strictParameters,omitempty"`

	// Limits of each API token. Limits in a token's Secret can be lower.
	// +optional
	Limits *Limits `json:"limits,omitempty"`

	// The durable queue.
	// +optional
	Queue *BackendQueue `json:"queue,omitempty"`

	// Stores responses of /v1/responses, so that later requests of the same API token can refer to them by previous_response_id. Without it,
	// no response is stored, and such requests get 400.
	// +optional
	Responses *StoredResponses `json:"responses,omitempty"`

	// Maximum time for one answer from the start of the engine; waiting and cold start do not count.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="the least is 1s"
	ResponseTimeout *metav1.Duration `json:"responseTimeout,omitempty"`

	// Maximum time in the queue.
	// +optional
	// +kubebuilder:default="1h"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="the least is 1s"
	QueueTimeout *metav1.Duration `json:"queueTimeout,omitempty"`

	// Maximum time from the arrival of a request to the end of its answer, the queue included. A client may ask for less with the header
	// x-koldun-timeout. Defaults to the sum of queueTimeout and responseTimeout.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s')",message="the least is 1s"
	RequestTimeout *metav1.Duration `json:"requestTimeout,omitempty"`

	// Largest body of a request. Defaults to 20Mi, and is never more than the messages that the NATS server takes.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : quantity(self).compareTo(quantity('1')) >= 0",message="the least is 1 byte"
	MaxBodySize *resource.Quantity `json:"maxBodySize,omitempty"`

	// Origins whose pages may use the API from a browser: https://HOST, or * for all.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=261
	// +kubebuilder:validation:items:Pattern=`^(\*|https?://[^/?#@,$\s]+)$`
	// +listType=set
	CORSOrigins []string `json:"corsOrigins,omitempty"`

	// How the reasoning of models is returned unless a request says otherwise. Defaults to separate.
	// +optional
	// +kubebuilder:validation:Enum=separate;inline;hidden
	Reasoning string `json:"reasoning,omitempty"`

	// Further arguments of the gateway, without --namespace and --namespaces: a gateway serves its own namespace only.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="!self.exists(a, a.contains('--namespace'))",message="--namespace and --namespaces are not allowed: a gateway serves its own namespace only"
	ExtraArgs []string `json:"extraArgs,omitempty"`
}

// Limits of each API token. 0 is no limit.
type Limits struct {
	// Requests per minute.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RequestsPerMinute int32 `json:"requestsPerMinute,omitempty"`

	// Tokens of prompts and answers per minute.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TokensPerMinute int64 `json:"tokensPerMinute,omitempty"`

	// Concurrent requests, waiting or running.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ConcurrentRequests int32 `json:"concurrentRequests,omitempty"`

	// Whether the limits of an API token, which its Secret sets, may exceed these. Otherwise they can only be lower. The platform team has to
	// allow it.
	// +optional
	TokensMayExceed bool `json:"tokensMayExceed,omitempty"`
}

// BackendQueue describes the durable queue.
type BackendQueue struct {
	// Maximum size of all waiting requests; beyond it, requests get 503. JetStream reserves it on disk, and 192Mi for outcomes and dead letters.
	// Defaults to 256Mi for a new queue and to the current size for an existing one. All that share a NATS server share the queue, so a
	// greater size raises it and a smaller one changes nothing: a Stream can.
	// +optional
	MaxBytes *resource.Quantity `json:"maxBytes,omitempty"`

	// Maximum waiting requests of one pool; beyond it, requests get 429. 0 is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxPerSession int32 `json:"maxPerSession,omitempty"`

	// Maximum waiting requests of one API token; beyond it, requests get 429. Defaults to 2000. Their bodies fill a quarter of maxBytes at most.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxPerTenant int32 `json:"maxPerTenant,omitempty"`

	// Servers of a NATS cluster that keep a copy of the queue. Defaults to 1 for a new queue and to the current number for an existing one.
	// +optional
	// +kubebuilder:validation:Enum=1;3;5
	Replicas int32 `json:"replicas,omitempty"`

	// How often a request is retried on another runner before its first token.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	MaxAttempts int32 `json:"maxAttempts,omitempty"`

	// No effect: a bucket holds the states of runners.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	StateStream string `json:"stateStream,omitempty"`
}

// StoredResponses describes how responses are stored. They are in the bucket koldun_responses of the NATS servers.
type StoredResponses struct {
	// Time for which each response is stored.
	// +optional
	// +kubebuilder:default="24h"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('720h')",message="it is between 1s and 720h"
	TTL *metav1.Duration `json:"ttl,omitempty"`

	// Maximum size of all stored responses; beyond it, further ones are not stored until some expire. JetStream reserves it on disk. Defaults to
	// 256Mi. All that share a NATS server share the bucket, so a greater size raises it and a smaller one changes nothing: a KeyValue can.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1048576 : quantity(self).compareTo(quantity('1Mi')) >= 0",message="the least is 1Mi"
	MaxBytes *resource.Quantity `json:"maxBytes,omitempty"`
}
