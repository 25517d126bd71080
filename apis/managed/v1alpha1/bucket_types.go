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
}

// BucketObservation is what was found of an S3 bucket.
type BucketObservation struct {
	// Region that the server reports.
	// +optional
	Region string `json:"region,omitempty"`
}

// A Bucket is an S3 bucket. An existing one is adopted; data is never deleted unless asked for.
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

	// What is wanted outside.
	ForProvider BucketParameters `json:"forProvider"`
}

// BucketStatus is the observed state of a Bucket.
type BucketStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// What was found outside.
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
