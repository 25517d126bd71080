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

	// Tenant or conversation of an isolated pool. Without it, all requests for the model share the pool.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Hash string `json:"hash,omitempty"`

	// Key of the pool in the queue. Defaults to a key derived from modelRef and hash.
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

	// Share of the requests of a name that several Dllamas and Sessions serve, for all Dllamas of the pool together.
	// +optional
	Traffic *Traffic `json:"traffic,omitempty"`

	// NATS servers of the queue.
	// +optional
	NATS *NATSConnection `json:"nats,omitempty"`

	// Minimum Dllamas, instead of scaling.minDllamas, which has no effect then: nor has kubectl scale, which writes it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	MinIdle *int32 `json:"minIdle,omitempty"`

	// Maximum Dllamas, instead of scaling.maxDllamas. 0 is the default limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	MaxWorkers *int32 `json:"maxWorkers,omitempty"`

	// No effect: the subjects and buckets of the queue are fixed.
	// +optional
	Queue *Queue `json:"queue,omitempty"`

	// No effect: a pool is removed when it is not in demand.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s')",message="must not be negative"
	TTL *metav1.Duration `json:"ttl,omitempty"`
}

// Scaling is the size of a pool.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxDllamas) || self.maxDllamas == 0 || !has(self.minDllamas) || self.maxDllamas >= self.minDllamas",message="maxDllamas must not be less than minDllamas",fieldPath=".maxDllamas"
type Scaling struct {
	// Minimum Dllamas. With 0 the pool is empty without demand. kubectl scale and autoscalers write it; the queue only adds to it, up to
	// maxDllamas.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	MinDllamas *int32 `json:"minDllamas,omitempty"`

	// Maximum Dllamas. 0 is the default limit, 64.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	MaxDllamas int32 `json:"maxDllamas,omitempty"`

	// Waiting requests per Dllama that start another Dllama. 0 is 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	ScaleUpBacklog int32 `json:"scaleUpBacklog,omitempty"`

	// Seconds without work after which a Dllama above minDllamas is drained and removed. 0 is 300.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=604800
	ScaleDownIdleSeconds int32 `json:"scaleDownIdleSeconds,omitempty"`

	// Exact number of Dllamas. It overrides the signal of the queue.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=64
	DesiredDllamas *int32 `json:"desiredDllamas,omitempty"`

	// No effect: the queue counts running requests.
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
	// No effect: the stream of requests holds assignments.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	AssignmentsBucket string `json:"assignmentsBucket,omitempty"`
	// No effect: subjects are fixed.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	DllamaSubjectPrefix string `json:"dllamaSubjectPrefix,omitempty"`
	// No effect: a bucket holds the states of runners.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	StateStream string `json:"stateStream,omitempty"`
	// No effect: heartbeats detect lost runners.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s')",message="must not be negative"
	AckTimeout *metav1.Duration `json:"ackTimeout,omitempty"`
}

// SessionStatus is the status of a Session.
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

	// Busy Dllamas.
	// +optional
	BusyWorkers int32 `json:"busyWorkers,omitempty"`

	// Idle Dllamas.
	// +optional
	AvailableWorkers int32 `json:"availableWorkers,omitempty"`

	// Waiting requests, as the Pool of the Session last counted them.
	// +optional
	Backlog *int32 `json:"backlog,omitempty"`

	// Running requests.
	// +optional
	InFlight int32 `json:"inFlight,omitempty"`

	// Waiting and running requests.
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

	// Whether the Dllama serves; the same as ready.
	// +optional
	Healthy bool `json:"healthy"`

	// Never set: status.endpoint of no Dllama leads past the queue.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// Never set: inFlight counts the running requests of the pool.
	// +optional
	ActiveMessages int32 `json:"activeMessages,omitempty"`

	// Never set: heartbeats stay in the queue.
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
