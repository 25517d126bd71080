package v1

// ModelReference names a Model.
type ModelReference struct {
	// Kind of the referent.
	// +optional
	// +kubebuilder:default=Model
	// +kubebuilder:validation:Pattern=`^[Mm][Oo][Dd][Ee][Ll]$`
	Kind string `json:"kind,omitempty"`

	// API group of the referent.
	// +optional
	// +kubebuilder:validation:Enum="";koldun.gorizond.io
	APIGroup string `json:"apiGroup,omitempty"`

	// Name of the Model.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Namespace of the Model. Defaults to the namespace of the referring object.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// SecretReference names a Secret.
type SecretReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the Secret. Must be the object's own namespace when given.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// SecretKeyReference names one key of a Secret of the object's own namespace.
type SecretKeyReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key in the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// ProviderConfigReference names the connections of managed resources.
type ProviderConfigReference struct {
	// Kind of the referent.
	// +optional
	// +kubebuilder:default=ProviderConfig
	// +kubebuilder:validation:Enum=ProviderConfig;ClusterProviderConfig
	Kind string `json:"kind,omitempty"`

	// Name of the referent.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// NATSConnection is the connection to the NATS servers. It defaults to that of the only Ingress of the namespace, else to the default
// connection.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.url) && has(self.providerConfigRef))",message="give either url or providerConfigRef, not both",fieldPath=".url"
type NATSConnection struct {
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
}

// IngressReference refers to an Ingress.
type IngressReference struct {
	// Name of the Ingress, which is in the namespace of the Model. The Ingress of a Dllama with expose has the name of the Dllama.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
}

// CacheSpec is the older form of objectStorage.
type CacheSpec struct {
	// Endpoint of the S3 API: http[s]://HOST[:PORT].
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Endpoint string `json:"endpoint,omitempty"`

	// Bucket for all files.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Bucket string `json:"bucket,omitempty"`

	// Secret with the access key.
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`
}

// NetworkPolicy says whether pods get network policies.
type NetworkPolicy string

// Values of NetworkPolicy.
const (
	NetworkPolicyEnabled  NetworkPolicy = "Enabled"
	NetworkPolicyDisabled NetworkPolicy = "Disabled"
)
