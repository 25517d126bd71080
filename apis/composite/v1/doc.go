// Package v1 has the composite kinds: Model, Dllama, Root, Worker, Session, Ingress, ModelDownload.
//
// Crossplane (or koldun up) calls the composition functions with each composite,
// and they return its composed resources. make generate derives CRDs, XRDs and
// deep copies from these types.
//
// Rules across fields are CEL, because Crossplane drops defaults and other
// combinators from the top of a spec.
//
// +kubebuilder:object:generate=true
// +groupName=koldun.gorizond.io
// +versionName=v1
package v1

import "k8s.io/apimachinery/pkg/runtime/schema"

// Group and Version of all kinds in this package.
const (
	Group      = "koldun.gorizond.io"
	Version    = "v1"
	APIVersion = Group + "/" + Version
)

// GroupVersion is the group and version for client libraries.
var GroupVersion = schema.GroupVersion{Group: Group, Version: Version} //nolint:gochecknoglobals // a constant in all but syntax

// Kinds.
const (
	KindModel         = "Model"
	KindDllama        = "Dllama"
	KindRoot          = "Root"
	KindWorker        = "Worker"
	KindSession       = "Session"
	KindIngress       = "Ingress"
	KindModelDownload = "ModelDownload"

	KindAIModelMap   = "AIModelMap"
	KindAIDeployment = "AIDeployment"

	KindAutoNodeLabeler = "AutoNodeLabeler"
	KindModelOrchestra  = "ModelOrchestra"
)
