// Package v1alpha1 holds the managed resources: what Koldun keeps outside of
// Kubernetes. The composition functions compose them; the provider, the
// Terraform provider and koldun up act on them through internal/external.
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

// GroupVersion is the group and version as client libraries want it.
var GroupVersion = schema.GroupVersion{Group: Group, Version: Version} //nolint:gochecknoglobals // a constant in all but syntax

// Kinds.
const (
	KindBucket        = "Bucket"
	KindStream        = "Stream"
	KindKeyValue      = "KeyValue"
	KindQueue         = "Queue"
	KindHubRevision   = "HubRevision"
	KindModelArtifact = "ModelArtifact"
	KindModelRecord   = "ModelRecord"
	KindPool          = "Pool"
	KindDemand        = "Demand"
	KindToken         = "Token"
	KindTokenSet      = "TokenSet"
	KindConsumer      = "Consumer"
	KindNodeLabelRule = "NodeLabelRule"

	KindProviderConfig        = "ProviderConfig"
	KindClusterProviderConfig = "ClusterProviderConfig"
	KindProviderConfigUsage   = "ProviderConfigUsage"
)

// ObserveOnly reports whether resources of a kind only look: nothing outside is
// theirs to delete, so that none has to be reached when they go. What a Demand
// or a Pool makes belongs to it and goes with it.
func ObserveOnly(kind string) bool {
	return kind == KindDemand || kind == KindHubRevision || kind == KindPool
}
