// Package v1 holds the kinds that people claim: Model, Dllama, Root, Worker, Session, Ingress.
//
// They are composites: Crossplane (or koldun up) hands each to the composition
// functions, which answer with the objects that make it real. CRDs, XRDs and
// deep copies are generated from these types by make generate.
//
// Rules that span fields are CEL, because Crossplane drops defaults and the
// other combinators from the top of a spec.
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

// GroupVersion is the group and version as client libraries want it.
var GroupVersion = schema.GroupVersion{Group: Group, Version: Version} //nolint:gochecknoglobals // a constant in all but syntax

// Kinds.
const (
	KindModel   = "Model"
	KindDllama  = "Dllama"
	KindRoot    = "Root"
	KindWorker  = "Worker"
	KindSession = "Session"
	KindIngress = "Ingress"
)
