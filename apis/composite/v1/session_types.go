package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A Session is a pool of Dllamas for one model.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.scaling.minDllamas,statuspath=.status.dllamas,selectorpath=.status.selector
// +kubebuilder:resource:scope=Namespaced,shortName=sess,categories=koldun
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.model`
// +kubebuilder:printcolumn:name="Dllamas",type=integer,JSONPath=`.status.dllamas`
// +kubebuilder:printcolumn:name="ReadyDllamas",type=integer,JSONPath=`.status.readyDllamas`
// +kubebuilder:printcolumn:name="ReadyWorkers",type=integer,JSONPath=`.status.readyWorkers`
// +kubebuilder:printcolumn:name="Backlog",type=integer,JSONPath=`.status.backlog`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Serving")].reason`
type Session struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SessionSpec   `json:"spec"`
	Status SessionStatus `json:"status,omitempty"`
}

// SessionSpec describes a Session.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.nodes) && has(self.replicaPower))",message="give either nodes or replicaPower, not both",fieldPath=".nodes"
type SessionSpec struct {
	// Model that the pool serves.
	ModelRef ModelReference `json:"modelRef"`

	// What the pool is kept apart for: a tenant or a conversation. Without it the pool is shared by all requests for the model.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Hash string `json:"hash,omitempty"`

	// Key of the pool in the queue. Made from modelRef and hash when it is not given.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-]{1,200}$`
	Key string `json:"key,omitempty"`

	Runtime `json:",inline"`

	// Image of the dispatcher. Defaults to the package's image.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	DispatcherImage string `json:"dispatcherImage,omitempty"`

	// No effect: the dispatcher always serves its metrics.
	// +optional
	// +kubebuilder:validation:MaxLength=261
	DispatcherMetricsListen string `json:"dispatcherMetricsListen,omitempty"`

	// Size of the pool.
	// +optional
	// +kubebuilder:default={}
	Scaling Scaling `json:"scaling,omitempty"`

	// NATS servers that requests come from.
	// +optional
	NATS *NATSConnection `json:"nats,omitempty"`

	// Dllamas that are always there, in place of scaling.minDllamas.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	MinIdle *int32 `json:"minIdle,omitempty"`

	// Most Dllamas, in place of scaling.maxDllamas. 0 is no limit of its own.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	MaxWorkers *int32 `json:"maxWorkers,omitempty"`

	// No effect but for ackTimeout: the subjects and buckets of the queue are fixed.
	// +optional
	Queue *Queue `json:"queue,omitempty"`

	// No effect: a pool goes when nothing has asked for it.
	// +optional
	TTL *metav1.Duration `json:"ttl,omitempty"`
}

// Scaling is the size of a pool.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxDllamas) || self.maxDllamas == 0 || !has(self.minDllamas) || self.maxDllamas >= self.minDllamas",message="maxDllamas must not be less than minDllamas",fieldPath=".maxDllamas"
type Scaling struct {
	// Dllamas that are always there. 0 lets the pool be empty while nothing asks. kubectl scale and autoscalers write it; the pool's
	// own signal only adds to it, up to maxDllamas.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	MinDllamas *int32 `json:"minDllamas,omitempty"`

	// Most Dllamas. 0 is no limit of its own: 64.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	MaxDllamas int32 `json:"maxDllamas,omitempty"`

	// Waiting requests per Dllama from which on one more is started. 0 is 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	ScaleUpBacklog int32 `json:"scaleUpBacklog,omitempty"`

	// Seconds without work after which a Dllama above minDllamas is drained and removed. 0 is 300.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=604800
	ScaleDownIdleSeconds int32 `json:"scaleDownIdleSeconds,omitempty"`

	// Number of Dllamas, exactly. It takes the place of our own signal.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	DesiredDllamas *int32 `json:"desiredDllamas,omitempty"`

	// No effect: requests at work are counted in the queue.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ActiveRequests int32 `json:"activeRequests,omitempty"`
}

// Queue named the parts of a session's queue.
type Queue struct {
	// No effect: subjects are fixed.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	BacklogSubject string `json:"backlogSubject,omitempty"`
	// No effect: subjects are fixed.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	ResponseSubjectPrefix string `json:"responseSubjectPrefix,omitempty"`
	// No effect: assignments live in the stream of requests.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	AssignmentsBucket string `json:"assignmentsBucket,omitempty"`
	// No effect: subjects are fixed.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	DllamaSubjectPrefix string `json:"dllamaSubjectPrefix,omitempty"`
	// No effect: the states of runners live in a bucket.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	StateStream string `json:"stateStream,omitempty"`
	// No effect: a runner that goes is noticed by its heartbeat.
	// +optional
	AckTimeout *metav1.Duration `json:"ackTimeout,omitempty"`
}

// SessionStatus is what a Session reports.
type SessionStatus struct {
	Status `json:",inline"`

	// Model id as clients name it: namespace/name.
	// +optional
	Model string `json:"model,omitempty"`

	// Key of the pool in the queue.
	// +optional
	Key string `json:"key,omitempty"`

	// Dllamas of the pool.
	// +optional
	Dllamas int32 `json:"dllamas"`

	// Selector of the pods of all Dllamas, for autoscalers.
	// +optional
	Selector string `json:"selector,omitempty"`

	// Dllamas of the pool that are ready.
	// +optional
	ReadyDllamas int32 `json:"readyDllamas"`

	// Worker pods of all Dllamas that are ready.
	// +optional
	ReadyWorkers int32 `json:"readyWorkers"`

	// Dllamas that answer a request now.
	// +optional
	BusyWorkers int32 `json:"busyWorkers,omitempty"`

	// Dllamas that are ready and have nothing to do.
	// +optional
	AvailableWorkers int32 `json:"availableWorkers,omitempty"`

	// Requests that wait. A Session that an Ingress made leaves it to its Pool, as all numbers that follow.
	// +optional
	Backlog *int32 `json:"backlog,omitempty"`

	// Requests that are at work.
	// +optional
	InFlight int32 `json:"inFlight,omitempty"`

	// Requests that wait or are at work.
	// +optional
	ActiveRequests int32 `json:"activeRequests,omitempty"`

	// When the pool last had work.
	// +optional
	LastActivity *metav1.Time `json:"lastActivity,omitempty"`

	// The Dllamas of the pool.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	Workers []SessionWorker `json:"workers,omitempty"`
}

// A SessionWorker is one Dllama of a pool.
type SessionWorker struct {
	// Name of the Dllama.
	Name string `json:"name"`

	// Phase: Pending, Ready or Terminating.
	// +optional
	Phase string `json:"phase,omitempty"`

	// Whether the Dllama serves.
	// +optional
	Ready bool `json:"ready"`

	// Whether the Dllama serves; it is the same as ready.
	// +optional
	Healthy bool `json:"healthy"`

	// Address of the root's sidecar.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// Requests at work.
	// +optional
	ActiveMessages int32 `json:"activeMessages,omitempty"`

	// Never set: heartbeats stay in the queue, where they cost nothing.
	// +optional
	LastHeartbeat *metav1.Time `json:"lastHeartbeat,omitempty"`
}

// SessionList is a list of Sessions.
//
// +kubebuilder:object:root=true
type SessionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Session `json:"items"`
}
