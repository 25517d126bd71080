package local

import "context"

// A Managed brings about the outside things that objects of ManagedGroup
// describe. Calls may block until ctx ends, and come from several goroutines,
// but never two at once for the same object. Objects have the status that the
// Observation before has brought.
type Managed interface {
	// Observe looks and changes nothing.
	Observe(ctx context.Context, obj Object) (Observation, error)
	// Create makes the thing, or adopts it.
	Create(ctx context.Context, obj Object) error
	// Update brings an existing thing to the object's spec.
	Update(ctx context.Context, obj Object) error
	// Delete removes the thing; no thing is no error.
	Delete(ctx context.Context, obj Object) error
}

// A Watcher is a Managed that knows of some objects when to look at them again,
// so that nobody has to poll.
type Watcher interface {
	// Watch calls changed whenever Observe would find something else, until ctx
	// ends, and returns nil then. Of objects that cannot be watched it returns nil
	// at once. It is ended and called anew when the object's spec changes.
	Watch(ctx context.Context, obj Object, changed func()) error
}

// An Observation is what was found of one outside thing.
type Observation struct {
	Exists   bool // false: Create is the next step
	UpToDate bool // false: Update is the next step
	Ready    bool // it can be used now
	// Message says why it is not ready.
	Message string
	// Status becomes status.atProvider.
	Status map[string]any
	// Connection goes into the Secret that spec.writeConnectionSecretToRef
	// names, in the object's namespace.
	Connection map[string][]byte
	// Objects are composites that the object makes. They belong to it, and those
	// that are not among them any more go.
	Objects []Object
}
