package local

import "context"

// A Managed manages the external resources of objects of ManagedGroup. Calls may
// block until ctx ends. They come from several goroutines, but are never
// concurrent for the same object. Objects have the status of the previous
// Observation.
type Managed interface {
	// Observe returns the state of the external resource without changing it.
	Observe(ctx context.Context, obj Object) (Observation, error)
	// Create creates or adopts the external resource.
	Create(ctx context.Context, obj Object) error
	// Update updates an existing external resource to the object's spec.
	Update(ctx context.Context, obj Object) error
	// Delete deletes the external resource if it exists.
	Delete(ctx context.Context, obj Object) error
}

// A Watcher is a Managed that can watch some external resources instead of
// polling them.
type Watcher interface {
	// Watch calls changed whenever the result of Observe changes, until ctx ends;
	// it then returns nil. For objects that cannot be watched it returns nil at
	// once. The caller restarts it when the object's spec changes, and some time
	// after an error.
	Watch(ctx context.Context, obj Object, changed func()) error
}

// An Observation is the state of one external resource.
type Observation struct {
	Exists   bool // false: Create is the next step
	UpToDate bool // false: Update is the next step
	Ready    bool // it is usable
	// Message is the reason why it is not ready.
	Message string
	// Status becomes status.atProvider.
	Status map[string]any
	// Connection is the data of the Secret in spec.writeConnectionSecretToRef, in
	// the object's namespace.
	Connection map[string][]byte
	// Objects are the composites that the object creates. It owns them, and they
	// are removed when they are no longer listed.
	Objects []Object
}
