package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BucketParameters describe an S3 bucket.
type BucketParameters struct {
	// Name of the bucket.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a bucket cannot be renamed"
	BucketName string `json:"bucketName"`

	// Deletes the bucket with all objects in it when this resource is deleted. Without it only an empty bucket is deleted.
	// +optional
	ForceDestroy bool `json:"forceDestroy,omitempty"`

	// Whether old versions of objects are kept: Enabled or Suspended. Defaults to the current setting.
	// +optional
	// +kubebuilder:validation:Enum=Enabled;Suspended
	Versioning string `json:"versioning,omitempty"`

	// Rules by which the server removes objects. Defaults to the current rules; an empty list removes all rules.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=id
	LifecycleRules *[]LifecycleRule `json:"lifecycleRules,omitempty"`

	// Days after which an incomplete multipart upload is aborted. By default, none is aborted.
	// +optional
	// +kubebuilder:validation:Minimum=1
	AbortUploadsAfterDays int32 `json:"abortUploadsAfterDays,omitempty"`

	// Tags of the bucket. Defaults to the current tags.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	Tags map[string]string `json:"tags,omitempty"`

	// Access policy, a JSON document. Defaults to the current policy.
	// +optional
	// +kubebuilder:validation:MaxLength=20480
	Policy string `json:"policy,omitempty"`

	// What the credentials in the connection Secret may do, if the ProviderConfig describes temporary ones (s3.sts). Defaults to reading
	// and writing all objects of the bucket.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	Access []BucketAccess `json:"access,omitempty"`
}

// BucketAccess is a right to objects.
type BucketAccess struct {
	// Name of the bucket. Defaults to that of the resource.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Bucket string `json:"bucket,omitempty"`

	// Folder of the objects. Defaults to the whole bucket.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[^*?$\s\\]*$`
	Prefix string `json:"prefix,omitempty"`

	// Whether objects may be written and removed, not only read.
	// +optional
	Write bool `json:"write,omitempty"`
}

// A LifecycleRule makes the server remove objects.
//
// +kubebuilder:validation:XValidation:rule="has(self.expirationDays) || has(self.noncurrentDays)",message="give expirationDays, noncurrentDays or both"
type LifecycleRule struct {
	// Name of the rule.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	ID string `json:"id"`

	// Prefix of the names of the objects. Defaults to all objects.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Prefix string `json:"prefix,omitempty"`

	// Days after which an object is removed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ExpirationDays int32 `json:"expirationDays,omitempty"`

	// Days after which an old version of an object is removed.
	// +optional
	// +kubebuilder:validation:Minimum=1
	NoncurrentDays int32 `json:"noncurrentDays,omitempty"`
}

// BucketObservation is the observed state of an S3 bucket.
type BucketObservation struct {
	// Region that the server reports.
	// +optional
	Region string `json:"region,omitempty"`

	// Differences from the desired configuration: versioning, lifecycle, uploads, tags, policy.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	Differs []string `json:"differs,omitempty"`

	// Whether the credentials in the connection Secret are temporary. They are in its key KOLDUN_S3_CREDENTIALS then, and renewed there.
	// +optional
	TemporaryCredentials bool `json:"temporaryCredentials,omitempty"`

	// Folder that the namespace may write in all buckets. Without one it may write all folders that its claims name.
	// +optional
	NamespaceFolder string `json:"namespaceFolder,omitempty"`

	// TCP ports that clients of this connection need: those of the servers' addresses, and egressPorts of the ProviderConfig. The network policies of
	// claims allow them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=128
	Ports []int32 `json:"ports,omitempty"`
}

// A Bucket is an S3 bucket. It adopts an existing bucket, and deletes data only with forceDestroy.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Bucket",type=string,JSONPath=`.spec.forProvider.bucketName`
type Bucket struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BucketSpec   `json:"spec"`
	Status BucketStatus `json:"status,omitempty"`
}

// BucketSpec is the desired state of a Bucket.
type BucketSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider BucketParameters `json:"forProvider"`
}

// BucketStatus is the observed state of a Bucket.
type BucketStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider BucketObservation `json:"atProvider,omitempty"`
}

// BucketList is a list of Buckets.
//
// +kubebuilder:object:root=true
type BucketList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Bucket `json:"items"`
}
