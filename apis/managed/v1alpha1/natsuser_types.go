package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NATSUserParameters describe users of the NATS account of the resource's namespace.
type NATSUserParameters struct {
	// Users, each with credentials of its own.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Users []NATSUserGrant `json:"users"`

	// Life of credentials, between 10 minutes and 30 days. New ones are written when half of it is left. Defaults to 24 hours.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10m') && duration(self) <= duration('720h')",message="lifetime is between 10m and 720h"
	Lifetime *metav1.Duration `json:"lifetime,omitempty"`

	// Revokes the credentials that were issued at this time or earlier, such as leaked ones. The Secret gets new ones of the same users at
	// once, which running pods take over without a restart. The servers refuse the earlier ones when overlap is over, and end their
	// connections. It is not in the future. Defaults to none.
	// +optional
	RevokeBefore *metav1.Time `json:"revokeBefore,omitempty"`

	// Time for which revoked credentials stay valid after the Secret has new ones. The kubelet takes up to 90 seconds to give a changed
	// Secret to pods; with less, pods lose their connection until then, and requests wait. Defaults to 2 minutes.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s') && duration(self) <= duration('1h')",message="overlap is between 0s and 1h"
	Overlap *metav1.Duration `json:"overlap,omitempty"`
}

// A NATSUserGrant is the role of a user, with the values that its subjects depend on.
//
// +kubebuilder:validation:XValidation:rule="(self.role == 'runner') == (has(self.session) && has(self.runner) && has(self.model))",message="session, runner and model are those of the role runner, which needs them all"
// +kubebuilder:validation:XValidation:rule="self.role == 'runner' || !has(self.session) && !has(self.runner) && !has(self.model)",message="session, runner and model are those of the role runner"
// +kubebuilder:validation:XValidation:rule="(self.role == 'job') == has(self.progress)",message="progress is that of the role job, which needs it"
type NATSUserGrant struct {
	// Name. The credentials file is the key NAME.creds of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Role, which decides about the subjects: gateway, dispatcher, runner (koldun llm), job (koldun fetch and koldun convert) or operator
	// (koldun requests).
	// +kubebuilder:validation:Enum=gateway;dispatcher;runner;job;operator
	Role string `json:"role"`

	// Session of a runner.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-a-z0-9_/]+([.][-a-z0-9_/]+)*$`
	Session string `json:"session,omitempty"`

	// Name of a runner.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-a-z0-9_/]+([.][-a-z0-9_/]+)*$`
	Runner string `json:"runner,omitempty"`

	// Key of the model that a runner serves, in the registry.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-a-z0-9_/]+([.][-a-z0-9_/]+)*$`
	Model string `json:"model,omitempty"`

	// Key under which a Job reports its progress.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[-a-z0-9_/]+([.][-a-z0-9_/]+)*$`
	Progress string `json:"progress,omitempty"`
}

// NATSUserObservation is the observed state of users.
type NATSUserObservation struct {
	// Public key of the account.
	// +optional
	Account string `json:"account,omitempty"`

	// Users with credentials.
	// +optional
	// +listType=map
	// +listMapKey=name
	Users []NATSUserIssued `json:"users,omitempty"`

	// The servers refuse credentials of these users that were issued at this time or earlier.
	// +optional
	RevokedBefore *metav1.Time `json:"revokedBefore,omitempty"`

	// Public keys of users with credentials that are to be revoked now.
	// +optional
	// +listType=set
	Revoking []string `json:"revoking,omitempty"`

	// When those of them were removed that are no users any more.
	// +optional
	RevokingSince *metav1.Time `json:"revokingSince,omitempty"`
}

// NATSUserIssued is a user with credentials.
type NATSUserIssued struct {
	// Name.
	Name string `json:"name"`

	// Public key. Renewed credentials have the same one.
	ID string `json:"id"`

	// When the credentials in the Secret were issued.
	// +optional
	Issued *metav1.Time `json:"issued,omitempty"`
}

// A NATSUser makes users of the NATS account of its namespace, on servers in operator mode (nats.operator of the ProviderConfig), and writes
// their credentials files, NATS_URL and NATS_CA into the Secret of writeConnectionSecretToRef. It renews the credentials before they expire, and revokes them
// when users are removed or revokeBefore asks for it. The rights of each role are fixed.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Secret",type=string,JSONPath=`.spec.writeConnectionSecretToRef.name`
type NATSUser struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NATSUserSpec   `json:"spec"`
	Status NATSUserStatus `json:"status,omitempty"`
}

// NATSUserSpec is the desired state of a NATSUser.
type NATSUserSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider NATSUserParameters `json:"forProvider"`
}

// NATSUserStatus is the observed state of a NATSUser.
type NATSUserStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider NATSUserObservation `json:"atProvider,omitempty"`
}

// NATSUserList is a list of NATSUsers.
//
// +kubebuilder:object:root=true
type NATSUserList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NATSUser `json:"items"`
}
