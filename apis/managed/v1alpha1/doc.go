// Package v1alpha1 has the managed resources, which represent external resources
// of Koldun. The composition functions compose them; the Crossplane provider, the
// Terraform provider and koldun up manage them with internal/external.
//
// +kubebuilder:object:generate=true
// +groupName=koldun.m.gorizond.io
// +versionName=v1alpha1
package v1alpha1

import "k8s.io/apimachinery/pkg/runtime/schema"

// Group and Version of all kinds in this package.
const (
	Group      = "koldun.m.gorizond.io"
	Version    = "v1alpha1"
	APIVersion = Group + "/" + Version
)

// GroupVersion is the group and version for client libraries.
var GroupVersion = schema.GroupVersion{Group: Group, Version: Version} //nolint:gochecknoglobals // a constant in all but syntax

// Kinds.
const (
	KindBucket         = "Bucket"
	KindStream         = "Stream"
	KindKeyValue       = "KeyValue"
	KindQueue          = "Queue"
	KindHubRevision    = "HubRevision"
	KindModelArtifact  = "ModelArtifact"
	KindModelRecord    = "ModelRecord"
	KindPart           = "Part"
	KindPool           = "Pool"
	KindDemand         = "Demand"
	KindToken          = "Token"
	KindTokenSet       = "TokenSet"
	KindConsumer       = "Consumer"
	KindNodeLabelRule  = "NodeLabelRule"
	KindWorkloadStatus = "WorkloadStatus"
	KindNATSAccount    = "NATSAccount"
	KindNATSUser       = "NATSUser"

	KindProviderConfig        = "ProviderConfig"
	KindClusterProviderConfig = "ClusterProviderConfig"
	KindProviderConfigUsage   = "ProviderConfigUsage"
)

// LabelConnection with the value ConnectionAllowed on a Namespace allows it the
// ClusterProviderConfigs that do not say whom they allow.
const (
	LabelConnection   = "koldun.gorizond.io/connection"
	ConnectionAllowed = "allowed"
)

// ConditionSharedLogin is the type of the condition of a ClusterProviderConfig which says whether
// all namespaces get the same login.
const ConditionSharedLogin = "SharedLogin"

// ReasonNamespaceNotAllowed is the reason of the condition Ready of a managed
// resource whose namespace may not use its ClusterProviderConfig.
const ReasonNamespaceNotAllowed = "NamespaceNotAllowed"

// ObserveOnly reports whether resources of a kind only observe: they have no
// external resource to delete, so that deleting them needs no connection.
// Kubernetes deletes the objects that a Demand, a Part or a Pool owns.
func ObserveOnly(kind string) bool {
	return kind == KindDemand || kind == KindHubRevision || kind == KindPart || kind == KindPool || kind == KindWorkloadStatus
}
