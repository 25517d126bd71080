package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HubRevisionParameters name a revision of a repository on a hub.
type HubRevisionParameters struct {
	// Repository: hf://ORG/REPO or https://HOST/ORG/REPO.
	// +kubebuilder:validation:MinLength=6
	// +kubebuilder:validation:MaxLength=512
	Source string `json:"source"`

	// Branch, tag or commit.
	// +optional
	// +kubebuilder:default=main
	// +kubebuilder:validation:MaxLength=128
	Revision string `json:"revision,omitempty"`

	// Secret of this namespace with the hub's token, for gated and private repositories.
	// +optional
	TokenSecretRef *xpv2.LocalSecretReference `json:"tokenSecretRef,omitempty"`

	// Key of the token in the Secret. Defaults to token.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	TokenSecretKey string `json:"tokenSecretKey,omitempty"`

	// Glob patterns of the files that the status counts. Defaults to all files.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	Include []string `json:"include,omitempty"`

	// Glob patterns of files that the status does not count.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=256
	Exclude []string `json:"exclude,omitempty"`
}

// HubRevisionObservation is the observed state of a revision.
type HubRevisionObservation struct {
	// Repository that the commit was resolved in.
	// +optional
	Source string `json:"source,omitempty"`

	// Branch, tag or commit that it was resolved from.
	// +optional
	Revision string `json:"revision,omitempty"`

	// Commit to which the revision was first resolved.
	// +optional
	Commit string `json:"commit,omitempty"`

	// Final refusal of the hub: the repository or revision does not exist, or the token has no access.
	// +optional
	Refusal string `json:"refusal,omitempty"`

	// Whether the refusal is the platform team's, whose ProviderConfig does not allow the repository.
	// +optional
	NotAllowed bool `json:"notAllowed,omitempty"`

	// Number of the chosen files of the commit.
	// +optional
	Files int32 `json:"files,omitempty"`

	// Size of the chosen files in bytes.
	// +optional
	SizeBytes int64 `json:"sizeBytes,omitempty"`

	// The repository's config.json, which allows checks of the model before the download.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	Config string `json:"config,omitempty"`

	// TCP ports that clients of this connection need: those of the servers' addresses, and egressPorts of the ProviderConfig. The network policies of
	// claims allow them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=128
	Ports []int32 `json:"ports,omitempty"`
}

// A HubRevision is a revision of a hub's repository, resolved once to a commit. It is observed only.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Commit",type=string,JSONPath=`.status.atProvider.commit`
type HubRevision struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   HubRevisionSpec   `json:"spec"`
	Status HubRevisionStatus `json:"status,omitempty"`
}

// HubRevisionSpec is the desired state of a HubRevision.
type HubRevisionSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider HubRevisionParameters `json:"forProvider"`
}

// HubRevisionStatus is the observed state of a HubRevision.
type HubRevisionStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider HubRevisionObservation `json:"atProvider,omitempty"`
}

// HubRevisionList is a list of HubRevisions.
//
// +kubebuilder:object:root=true
type HubRevisionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []HubRevision `json:"items"`
}
