package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProviderConfigSpec describes connections to external systems. The ClusterProviderConfig named default supplies absent ones.
type ProviderConfigSpec struct {
	// NATS servers with JetStream.
	// +optional
	NATS *NATSConfig `json:"nats,omitempty"`

	// Object store.
	// +optional
	S3 *S3Config `json:"s3,omitempty"`

	// Hub for downloads of models. Defaults to https://huggingface.co.
	// +optional
	Hub *HubConfig `json:"hub,omitempty"`

	// Further TCP ports that the network policies of claims with these connections allow: those of pods behind a Service with another port,
	// because policies apply to the ports of pods, of hosts that a hub redirects to, and of others that all pods need.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	EgressPorts []int32 `json:"egressPorts,omitempty"`
}

// ClusterProviderConfigSpec describes connections, and which namespaces may use them.
type ClusterProviderConfigSpec struct {
	ProviderConfigSpec `json:",inline"`

	// Namespaces whose managed resources may use these connections, and whose pods get the credentials. Defaults to those with the label
	// koldun.gorizond.io/connection=allowed.
	// +optional
	AllowedNamespaces *AllowedNamespaces `json:"allowedNamespaces,omitempty"`

	// Whether all namespaces above get the same login: they are one domain of trust then, because all who may write claims in one of them
	// reach the requests and files of all. Without it, connections for more than one namespace need nats.operator and s3.sts.
	// +optional
	SharedLogin bool `json:"sharedLogin,omitempty"`
}

// AllowedNamespaces names namespaces. One that is named or selected is allowed.
// +kubebuilder:validation:XValidation:rule="!has(self.selector) || has(self.selector.matchLabels) || has(self.selector.matchExpressions)",message="an empty selector would allow all namespaces: write names: ['*'] to do so"
type AllowedNamespaces struct {
	// Names of namespaces. "*" stands for all.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^(\*|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$`
	Names []string `json:"names,omitempty"`

	// Labels of namespaces.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// NATSConfig describes a connection to NATS.
type NATSConfig struct {
	// URL of the servers, without credentials: nats://HOST:PORT, several separated by commas. Defaults to the Secret's key "url".
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`

	// Secret with the keys user and password, or token, or creds (a credentials file), also as NATS_USER and so on; ca.crt, tls.crt and
	// tls.key for TLS.
	// +optional
	SecretRef *CredentialsReference `json:"secretRef,omitempty"`

	// Accounts of namespaces, for servers in operator mode. Each namespace has an account of its own then, and each pod credentials with the
	// rights of its role. The Secret of secretRef holds no login in this case.
	// +optional
	Operator *NATSOperator `json:"operator,omitempty"`
}

// NATSOperator describes how accounts are made on NATS servers in operator mode with a full resolver.
type NATSOperator struct {
	// Secret with the keys operator.nk (seed of a signing key of the servers' operator), system.creds (credentials file of a user of the
	// system account) and accounts.key (at least 32 random bytes that the keys of accounts are derived from: with others, each namespace
	// gets another account).
	SecretRef CredentialsReference `json:"secretRef"`

	// Number of NATS servers. Most of them have to confirm a change of an account, and all its deletion. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	Servers int32 `json:"servers,omitempty"`

	// Limits of each account that has no NATSAccount.
	// +optional
	Limits NATSUsualLimits `json:"limits,omitempty"`
}

// NATSUsualLimits bound what the account of a namespace without NATSAccount uses. Without them, one namespace could fill the servers' disks.
type NATSUsualLimits struct {
	// Most connections; -1 is no limit. Defaults to 500.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	Connections int64 `json:"connections,omitempty"`

	// Most consumers of each stream and key-value bucket; -1 is no limit. Defaults to 1000.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	Consumers int64 `json:"consumers,omitempty"`

	// Most bytes of all streams and key-value buckets on disk, each counted once per replica; -1 is no limit. On a single server, the sum
	// over all accounts has to fit max_file. Defaults to 1 GiB for each of the servers, of which Koldun's queue reserves 448 MiB, and 704 MiB
	// with stored responses.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	DiskBytes int64 `json:"diskBytes,omitempty"`

	// Most streams and key-value buckets; -1 is no limit. Koldun's queue has 10. Defaults to 20.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	Streams int64 `json:"streams,omitempty"`
}

// S3Config describes a connection to an object store.
type S3Config struct {
	// Endpoint of the S3 API: http[s]://HOST[:PORT]. Defaults to AWS.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Endpoint string `json:"endpoint,omitempty"`

	// Region of the buckets. Defaults to AWS_REGION of the Secret, else to us-east-1.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Region string `json:"region,omitempty"`

	// How requests name a bucket: path (https://HOST/BUCKET) or virtual (https://BUCKET.HOST), which some services require. Defaults to
	// KOLDUN_S3_ADDRESSING of the Secret, else to path with an endpoint, and to virtual on AWS.
	// +optional
	// +kubebuilder:validation:Enum=path;virtual
	Addressing string `json:"addressing,omitempty"`

	// Which uploads carry a checksum in a header of their own: always, or whenRequired for services that refuse it; the signature covers
	// the bytes then. Defaults to AWS_REQUEST_CHECKSUM_CALCULATION of the Secret (when_required), else to always.
	// +optional
	// +kubebuilder:validation:Enum=always;whenRequired
	Checksums string `json:"checksums,omitempty"`

	// Secret with the access key: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or accessKey and secretKey, in any case of letters, and
	// ca.crt for TLS. Without it, a ClusterProviderConfig uses the identity of the pod, and a ProviderConfig sends requests without
	// credentials.
	// +optional
	SecretRef *CredentialsReference `json:"secretRef,omitempty"`

	// Temporary credentials for pods, which may do nothing but read or write the files of their model. Without it, pods get the credentials
	// above.
	// +optional
	STS *S3STS `json:"sts,omitempty"`
}

// S3STS describes a service with the API AssumeRole of AWS STS, as AWS, MinIO and Ceph have it.
type S3STS struct {
	// Endpoint of the STS API: http[s]://HOST[:PORT]. Defaults to the endpoint of the object store, or AWS.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Endpoint string `json:"endpoint,omitempty"`

	// Role that pods assume, which the credentials of the object store may assume: arn:aws:iam::ACCOUNT:role/NAME. MinIO needs none.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^arn:[^\s]+$`
	RoleARN string `json:"roleARN,omitempty"`

	// Life of credentials. Pods get new ones after half of it. Defaults to 1h, the most that AWS allows if the object store is used with a
	// role itself.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('15m') && duration(self) <= duration('12h')",message="lifetime is between 15m and 12h"
	Lifetime *metav1.Duration `json:"lifetime,omitempty"`

	// Folder that each namespace has in every bucket; {namespace} stands for its name. Its Models keep their files there, and its pods reach
	// no folder but this one and the shared ones. "/" lets claims name any folder, as namespaces do that trust each other. Defaults to
	// {namespace} in a ClusterProviderConfig, and to / in a ProviderConfig.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^(/|[A-Za-z0-9_{}-]([A-Za-z0-9._{}-]*)(/[A-Za-z0-9_{}-][A-Za-z0-9._{}-]*)*)$`
	// +kubebuilder:validation:XValidation:rule="self == '/' || self.split('/').exists(f, f == '{namespace}')",message="one of the folders is {namespace}, or namespaceFolder is /"
	NamespaceFolder string `json:"namespaceFolder,omitempty"`

	// Folders that the pods of all namespaces may read, such as the folder of the namespace with the platform's Models.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`
	SharedFolders []string `json:"sharedFolders,omitempty"`
}

// HubConfig describes a hub.
type HubConfig struct {
	// Endpoint: https://HOST.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Endpoint string `json:"endpoint,omitempty"`

	// Whether hubs that claims name, and hosts that a hub redirects to, may have loopback and private addresses. Only a ClusterProviderConfig
	// can allow them, and the one named default also for ProviderConfigs of the namespaces that it allows. The endpoint above may have such
	// an address in any ClusterProviderConfig, and link-local addresses are never allowed.
	// +optional
	AllowPrivateAddresses bool `json:"allowPrivateAddresses,omitempty"`

	// Repositories that may be loaded: HOST[:PORT], HOST/ORG or HOST/ORG/REPO, where * stands for a part without a slash, such as
	// huggingface.co/meta-llama or huggingface.co/Qwen/Qwen3-*. "*" allows all. Defaults to all repositories of the endpoint above.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9.*:-]+(/[A-Za-z0-9._*-]+){0,2}$`
	Allowed []string `json:"allowed,omitempty"`

	// Secret with the key token.
	// +optional
	SecretRef *CredentialsReference `json:"secretRef,omitempty"`
}

// CredentialsReference names a Secret with credentials.
type CredentialsReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the Secret. A ProviderConfig reads its own namespace only.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// ProviderConfigStatus is the status of a ProviderConfig.
type ProviderConfigStatus struct {
	xpv2.ProviderConfigStatus `json:",inline"`
}

// A ProviderConfig describes connections for the managed resources of its namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,providerconfig,koldun}
// +kubebuilder:printcolumn:name="NATS",type=string,JSONPath=`.spec.nats.url`
// +kubebuilder:printcolumn:name="S3",type=string,JSONPath=`.spec.s3.endpoint`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ProviderConfigSpec   `json:"spec"`
	Status ProviderConfigStatus `json:"status,omitempty"`
}

// ProviderConfigList is a list of ProviderConfigs.
//
// +kubebuilder:object:root=true
type ProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ProviderConfig `json:"items"`
}

// A ClusterProviderConfig describes connections for managed resources of the namespaces that it allows. Resources without a reference use
// the one named default.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories={crossplane,providerconfig,koldun}
// +kubebuilder:printcolumn:name="NATS",type=string,JSONPath=`.spec.nats.url`
// +kubebuilder:printcolumn:name="S3",type=string,JSONPath=`.spec.s3.endpoint`
// +kubebuilder:printcolumn:name="Shared-Login",type=boolean,JSONPath=`.spec.sharedLogin`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ClusterProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterProviderConfigSpec `json:"spec"`
	Status ProviderConfigStatus      `json:"status,omitempty"`
}

// ClusterProviderConfigList is a list of ClusterProviderConfigs.
//
// +kubebuilder:object:root=true
type ClusterProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterProviderConfig `json:"items"`
}

// A ProviderConfigUsage records that a managed resource uses a ProviderConfig.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,providerconfig,koldun}
// +kubebuilder:printcolumn:name="Config",type=string,JSONPath=`.providerConfigRef.name`
// +kubebuilder:printcolumn:name="Resource",type=string,JSONPath=`.resourceRef.name`
type ProviderConfigUsage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	xpv2.TypedProviderConfigUsage `json:",inline"`
}

// ProviderConfigUsageList is a list of ProviderConfigUsages.
//
// +kubebuilder:object:root=true
type ProviderConfigUsageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ProviderConfigUsage `json:"items"`
}
