package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NATSAccountParameters describe the NATS account of a namespace. A namespace without NATSAccount has an account with the limits of the
// ProviderConfig.
type NATSAccountParameters struct {
	// Namespace of the account.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="namespace cannot be changed: make another NATSAccount, and delete this one"
	Namespace string `json:"namespace"`

	NATSAccountLimits `json:",inline"`

	// Revokes the credentials of all users of the account that were issued at this time or earlier, such as leaked ones. All NATSUsers of the
	// namespace issue new ones within 20 seconds, which running pods take over without a restart. The servers refuse the earlier ones when
	// overlap is over, and end their connections. It is not in the future. Defaults to none.
	// +optional
	RevokeBefore *metav1.Time `json:"revokeBefore,omitempty"`

	// Time for which revoked credentials stay valid. The kubelet takes up to 90 seconds to give a changed Secret to pods; with less, pods
	// lose their connection until then, and requests wait. Defaults to 2 minutes.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s') && duration(self) <= duration('1h')",message="overlap is between 0s and 1h"
	Overlap *metav1.Duration `json:"overlap,omitempty"`

	// Whether the deletion deletes the streams and key-value buckets as well. Otherwise they stay on the servers' disks, and an account that
	// is made again for the namespace has them.
	// +optional
	Purge bool `json:"purge,omitempty"`
}

// NATSAccountLimits bound what a NATS account uses.
type NATSAccountLimits struct {
	// Most connections. Defaults to no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Connections int64 `json:"connections,omitempty"`

	// Most bytes of all streams and key-value buckets on disk, each counted once per replica. On a single server, the sum over all accounts
	// has to fit max_file. Defaults to no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	DiskBytes int64 `json:"diskBytes,omitempty"`

	// Most streams and key-value buckets. Koldun's queue has 10. Defaults to no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Streams int64 `json:"streams,omitempty"`
}

// NATSAccountObservation is the observed state of a NATS account.
type NATSAccountObservation struct {
	// Public key of the account.
	// +optional
	Account string `json:"account,omitempty"`

	// Whether the account is disabled: no user can connect.
	// +optional
	Disabled bool `json:"disabled,omitempty"`

	// The servers refuse credentials of all users that were issued at this time or earlier.
	// +optional
	RevokedBefore *metav1.Time `json:"revokedBefore,omitempty"`
}

// A NATSAccount is the account of a namespace on NATS servers in operator mode (nats.operator of the ProviderConfig): its limits, and its end. The
// deletion ends all connections at once, and is complete when no server has the account. It is not namespaced: users of a namespace do not
// choose its limits.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories={crossplane,managed,koldun}
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Namespace",type=string,JSONPath=`.spec.forProvider.namespace`
// +kubebuilder:printcolumn:name="Account",type=string,JSONPath=`.status.atProvider.account`,priority=1
type NATSAccount struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NATSAccountSpec   `json:"spec"`
	Status NATSAccountStatus `json:"status,omitempty"`
}

// NATSAccountSpec is the desired state of a NATSAccount.
type NATSAccountSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// Desired state of the external resource.
	ForProvider NATSAccountParameters `json:"forProvider"`
}

// NATSAccountStatus is the observed state of a NATSAccount.
type NATSAccountStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Observed state of the external resource.
	// +optional
	AtProvider NATSAccountObservation `json:"atProvider,omitempty"`
}

// NATSAccountList is a list of NATSAccounts.
//
// +kubebuilder:object:root=true
type NATSAccountList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NATSAccount `json:"items"`
}
