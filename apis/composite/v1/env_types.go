package v1

// PodEnv is the environment of all containers of pods, Koldun's own among them.
type PodEnv struct {
	// Environment of all containers, such as HTTPS_PROXY, KOLDUN_LOG_LEVEL and OTEL_EXPORTER_OTLP_ENDPOINT. It overrides that of an engine's
	// description. Containers with credentials of a connection get these only: KOLDUN_LOG_LEVEL, KOLDUN_LOG_FORMAT, OTEL_*, HTTP_PROXY,
	// HTTPS_PROXY, NO_PROXY, HF_TOKEN, GOMEMLIMIT, GOGC, GOMAXPROCS, TZ, AWS_MAX_ATTEMPTS, AWS_RETRY_MODE, AWS_REQUEST_CHECKSUM_CALCULATION
	// and AWS_RESPONSE_CHECKSUM_VALIDATION.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	Env []EnvVar `json:"env,omitempty"`

	// Secrets and ConfigMaps whose keys become variables of all containers. Variables in env override them, and so do those that Koldun sets.
	// Containers with credentials of a connection get the same ones of them as of env.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	EnvFrom []EnvFromSource `json:"envFrom,omitempty"`
}

// EnvVar is one environment variable.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.value) && has(self.valueFrom))",message="give either value or valueFrom, not both",fieldPath=".value"
// +kubebuilder:validation:XValidation:rule="!self.name.startsWith('KOLDUN_') && !self.name.startsWith('POD_') || self.name in ['KOLDUN_LOG_LEVEL', 'KOLDUN_LOG_FORMAT']",message="names that begin with KOLDUN_ or POD_ are Koldun's own, but for KOLDUN_LOG_LEVEL and KOLDUN_LOG_FORMAT",fieldPath=".name"
type EnvVar struct {
	// Name of the variable.
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Value of the variable. Secrets belong in valueFrom.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value,omitempty"`

	// Source of the value.
	// +optional
	ValueFrom *EnvVarSource `json:"valueFrom,omitempty"`
}

// EnvVarSource is the source of a variable's value.
//
// +kubebuilder:validation:XValidation:rule="has(self.secretKeyRef) != has(self.configMapKeyRef)",message="give either secretKeyRef or configMapKeyRef"
type EnvVarSource struct {
	// Key of a Secret of the namespace.
	// +optional
	SecretKeyRef *SecretKeyReference `json:"secretKeyRef,omitempty"`

	// Key of a ConfigMap of the namespace.
	// +optional
	ConfigMapKeyRef *ConfigMapKeyReference `json:"configMapKeyRef,omitempty"`
}

// ConfigMapKeyReference names one key of a ConfigMap of the object's own namespace.
type ConfigMapKeyReference struct {
	// Name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key in the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// EnvFromSource names a Secret or a ConfigMap whose keys become variables.
//
// +kubebuilder:validation:XValidation:rule="has(self.secretRef) != has(self.configMapRef)",message="give either secretRef or configMapRef"
type EnvFromSource struct {
	// Begins the names of the variables.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('KOLDUN_') && !self.startsWith('POD_')",message="names that begin with KOLDUN_ or POD_ are Koldun's own"
	Prefix string `json:"prefix,omitempty"`

	// Secret of the namespace.
	// +optional
	SecretRef *ObjectName `json:"secretRef,omitempty"`

	// ConfigMap of the namespace.
	// +optional
	ConfigMapRef *ObjectName `json:"configMapRef,omitempty"`
}

// ObjectName names an object of the object's own namespace.
type ObjectName struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}
