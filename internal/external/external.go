// Package external defines the clients of external resources: buckets, streams,
// tokens and all else that managed resources describe. Each kind has a package of
// its own below this one, and a row in package catalog, through which the
// Crossplane provider, the Terraform provider and koldun up use it.
package external

import "context"

// An Observation is the result of observing one external resource.
type Observation[O any] struct {
	Exists   bool // false: Create is the next step
	UpToDate bool // false: Update is the next step
	// Ready says that the resource can be used now; Message says why not.
	Ready   bool
	Message string
	// Status describes the resource. Zero if it does not exist.
	Status O
	// Connection holds what a workload needs to use the resource, by the names of
	// environment variables. Secret: never logged.
	Connection map[string][]byte
}

// A Client manages external resources of one kind, each described by a plain spec
// S and observed as a plain status O. Calls block until done or until ctx ends,
// are safe for concurrent use, and return errors with a fault kind that name the
// resource and the endpoint, never a secret.
type Client[S, O any] interface {
	// Observe reads the resource and changes nothing.
	Observe(ctx context.Context, spec S) (Observation[O], error)
	// Create creates the resource, or adopts one that exists. May be repeated.
	Create(ctx context.Context, spec S) error
	// Update brings an existing resource to the spec, in place.
	Update(ctx context.Context, spec S) error
	// Delete deletes the resource. It is no error if there is none.
	Delete(ctx context.Context, spec S) error
}

// A Watcher is a Client that knows when its external resources change.
type Watcher[S any] interface {
	// Watch calls changed whenever Observe would return something else. It returns
	// nil when ctx ends. A changed spec needs a new Watch.
	Watch(ctx context.Context, spec S, changed func()) error
}

// A Scope says which fields of an external resource are viewed.
type Scope int

const (
	// SpecFields are the fields that the spec mentions. What it leaves out and the
	// resource has by default stays left out.
	SpecFields Scope = iota
	// AllFields are all fields of the resource: only its name is known yet.
	AllFields
)

// A Viewer is a Client that can read how an external resource is configured, so
// that differences can be shown and an existing resource can be adopted.
type Viewer[S any] interface {
	// View returns the spec that describes the resource as it is, in the words of
	// the given spec where they mean the same. Errors: NotFound.
	View(ctx context.Context, spec S, scope Scope) (S, error)
}

// A Secret is a Kubernetes Secret. It must not be changed.
type Secret struct {
	Name                string
	Labels, Annotations map[string]string
	Data                map[string][]byte
}

// A SecretRef names a Secret in the namespace of the managed resource.
type SecretRef struct {
	Name string `json:"name"`
}
