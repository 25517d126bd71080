package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TokenSetParameters select the registry of the tokens. Bucket and prefix locate the entries and are immutable, because old entries would stay
// valid.
//
// +kubebuilder:validation:XValidation:rule="(has(self.bucket) ? self.bucket : 'koldun_tokens') == (has(oldSelf.bucket) ? oldSelf.bucket : 'koldun_tokens')",message="bucket cannot be changed: make another TokenSet, and delete this one"
// +kubebuilder:validation:XValidation:rule="(has(self.prefix) ? self.prefix : 'token/') == (has(oldSelf.prefix) ? oldSelf.prefix : 'token/')",message="prefix cannot be changed: make another TokenSet, and delete this one"
type TokenSetParameters struct {
	// Namespace of the tokens in the registry. It defaults to the namespace of the Kubernetes resource, from which Secrets are read, and cannot be
	// another one.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// Bucket of the registry. Gateways of Koldun read koldun_tokens, which is the default.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-]{1,255}$`
	Bucket string `json:"bucket,omitempty"`

	// Prefix of keys. Defaults to token/.
	// +optional
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_=/.-]{1,64}$`
	Prefix string `json:"prefix,omitempty"`
}

// A RejectedToken is a Secret without a usable token.
type RejectedToken struct {
	// Name of the Secret.
	Secret string `json:"secret"`

	// Error of the Secret.
	Reason string `json:"reason"`
}

// TokenSetObservation is the observed state of a set of tokens.
type TokenSetObservation struct {
	// Tokens that are valid.
	// +optional
	Tokens int32 `json:"tokens,omitempty"`

	// Tokens that are disabled.
	// +optional
	Disabled int32 `json:"disabled,omitempty"`

	// Secrets without a usable token.
	// +optional
	// +listType=map
	// +listMapKey=secret
	// +kubebuilder:validation:MaxItems=32
	Rejected []RejectedToken `json:"rejected,omitempty"`
}

// A TokenSet mirrors the tokens of all Secrets in its namespace with the label koldun.gorizond.io/token to the registry.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Tokens",type=integer,JSONPath=`.status.atProvider.tokens`
type TokenSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TokenSetSpec   `json:"spec"`
	Status TokenSetStatus `json:"status,omitempty"`
}

// TokenSetSpec is the desired state of a TokenSet.
type TokenSetSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider TokenSetParameters `json:"forProvider"`
}

// TokenSetStatus is the observed state of a TokenSet.
type TokenSetStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider TokenSetObservation `json:"atProvider,omitempty"`
}

// TokenSetList is a list of TokenSets.
//
// +kubebuilder:object:root=true
type TokenSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TokenSet `json:"items"`
}
