// Package external is the one way in which Koldun's faces (the Crossplane
// provider, the Terraform provider, koldun up) touch things outside of
// Kubernetes. Each kind of thing has a package of its own below this one.
//
// Clients of things that change by themselves also have
//
//	Watch(ctx context.Context, spec S, changed func()) error
//
// which calls changed whenever Observe has something else to show, until ctx
// ends, and returns nil then. It is for whoever would poll otherwise. When the
// spec changes, Watch is ended and called anew.
package external

import "context"

// An Observation is what was found of one outside thing.
type Observation[O any] struct {
	Exists   bool // false: Create is the next step
	UpToDate bool // false: Update is the next step
	// Ready says that the thing can be used now; Message says why not.
	Ready   bool
	Message string
	// Status is what to show of it. Zero if it does not exist.
	Status O
	// Connection holds what a workload needs to use the thing, by the names
	// of the environment variables it is given in. Secret: never logged.
	Connection map[string][]byte
}

// A Client manages outside things of one kind, each described by a plain
// spec S and shown as a plain status O. Calls block until done or until ctx
// ends, are safe for concurrent use, and return errors with a fault kind that
// name the thing and the endpoint, never a secret.
type Client[S, O any] interface {
	// Observe looks and changes nothing.
	Observe(ctx context.Context, spec S) (Observation[O], error)
	// Create makes the thing, or adopts one that exists. May be repeated.
	Create(ctx context.Context, spec S) error
	// Update brings an existing thing to the spec, in place.
	Update(ctx context.Context, spec S) error
	// Delete removes the thing; no thing is no error.
	Delete(ctx context.Context, spec S) error
}
