package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TokenParameters describe an API token. Without sha256 and secretRef the provider generates the token and writes it to the key "token" of the
// Secret in writeConnectionSecretToRef. Bucket and prefix locate the entry and are immutable.
//
// +kubebuilder:validation:XValidation:rule="(has(self.bucket) ? self.bucket : 'koldun_tokens') == (has(oldSelf.bucket) ? oldSelf.bucket : 'koldun_tokens')",message="bucket cannot be changed: make another Token, and delete this one"
// +kubebuilder:validation:XValidation:rule="(has(self.prefix) ? self.prefix : 'token/') == (has(oldSelf.prefix) ? oldSelf.prefix : 'token/')",message="prefix cannot be changed: make another Token, and delete this one"
// +kubebuilder:validation:XValidation:rule="!has(self.sha256) || !has(self.secretRef)",message="give either sha256 or secretRef, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.rotateAfter) || !has(self.sha256) && !has(self.secretRef)",message="rotateAfter needs a generated token: one that is given is rotated by whoever gives it"
type TokenParameters struct {
	// SHA-256 of the token, in lower-case hex.
	// +optional
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{64}$`
	SHA256 string `json:"sha256,omitempty"`

	// Secret of this namespace with the key "token" (the token) or "hash" (its SHA-256).
	// +optional
	SecretRef *xpv2.LocalSecretReference `json:"secretRef,omitempty"`

	// Namespace of the token in the registry. It defaults to the namespace of the Kubernetes resource, and cannot be another one.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// Whether the token is disabled.
	// +optional
	Disabled bool `json:"disabled,omitempty"`

	// Expiry time of the token.
	// +optional
	Expires *metav1.Time `json:"expires,omitempty"`

	// Models that the token may use, NAMESPACE/NAME. Defaults to all.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=127
	Models []string `json:"models,omitempty"`

	// Requests per minute; 0 is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RequestsPerMinute int32 `json:"requestsPerMinute,omitempty"`

	// Tokens of prompts and answers per minute; 0 is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TokensPerMinute int64 `json:"tokensPerMinute,omitempty"`

	// Concurrent requests, waiting or running; 0 is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ConcurrentRequests int32 `json:"concurrentRequests,omitempty"`

	// Tenant of the token. Tokens of one namespace with the same tenant share limits, their part of the queue and stored responses. Defaults to
	// the token itself.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Tenant string `json:"tenant,omitempty"`

	// Metadata of the token.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Metadata map[string]string `json:"metadata,omitempty"`

	// Age at which a generated token is replaced. Defaults to never.
	// +optional
	RotateAfter *metav1.Duration `json:"rotateAfter,omitempty"`

	// Time for which a replaced token stays valid. Defaults to none.
	// +optional
	Overlap *metav1.Duration `json:"overlap,omitempty"`

	// Bucket of the registry. Gateways of Koldun read koldun_tokens, which is the default, and the only one with nats.operator.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-]{1,255}$`
	Bucket string `json:"bucket,omitempty"`

	// Prefix of keys. Defaults to token/.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_=/.-]{1,64}$`
	Prefix string `json:"prefix,omitempty"`
}

// TokenObservation is the observed state of an API token.
type TokenObservation struct {
	// Key of the entry in the bucket.
	// +optional
	Key string `json:"key,omitempty"`

	// Creation time of a generated token.
	// +optional
	Rotated *metav1.Time `json:"rotated,omitempty"`

	// Replaced tokens that are still valid.
	// +optional
	Replaced int32 `json:"replaced,omitempty"`
}

// A Token is one API token in the registry.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Disabled",type=boolean,JSONPath=`.spec.forProvider.disabled`
type Token struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TokenSpec   `json:"spec"`
	Status TokenStatus `json:"status,omitempty"`
}

// TokenSpec is the desired state of a Token.
type TokenSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider TokenParameters `json:"forProvider"`
}

// TokenStatus is the observed state of a Token.
type TokenStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider TokenObservation `json:"atProvider,omitempty"`
}

// TokenList is a list of Tokens.
//
// +kubebuilder:object:root=true
type TokenList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Token `json:"items"`
}
