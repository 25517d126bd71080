package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

// A Resource is a managed resource as a client needs it.
type Resource struct {
	// Spec encodes to the JSON of spec.forProvider.
	Spec any
	// Status encodes to the JSON of status.atProvider as last observed. Nil: not
	// observed yet.
	Status any
	// Owner is the unique name of the resource. Entries of the registry and labels
	// carry it.
	Owner string
	// ID distinguishes the resource from earlier ones of the same name.
	ID string
	// Namespace of the resource. Empty if it has none.
	Namespace string
	Secrets   Secrets
	// Existing holds the objects of the kind of its dependents, and of Entry.Beside, in
	// the namespace.
	Existing external.Existing
	// Creating asks, before a creation, for an external resource that exists
	// already.
	Creating bool
	// Deleting means that the resource is to be deleted: only the names in its
	// spec are read.
	Deleting bool

	// common is what the connections say: Connections.Common.
	common bool
}

// An Observation is an external.Observation with its status as JSON.
type Observation struct {
	Exists, UpToDate, Ready bool
	Message                 string
	Status                  json.RawMessage
	Connection              map[string][]byte // secret
	Dependents              []external.Object // the complete desired set
}

// A Watch calls changed whenever Observe would return something else. It returns
// nil when ctx ends.
type Watch func(ctx context.Context, changed func()) error

// A Client is an external.Client, and an external.Viewer if CanView, without the
// types of its spec and status.
type Client interface {
	// Observe reads the external resource and changes nothing.
	Observe(ctx context.Context, r Resource) (Observation, error)
	// CanView reports whether the client can read how an external resource is
	// configured.
	CanView() bool
	// View returns the JSON of the spec that describes the external resource, nil
	// unless CanView. Errors: NotFound.
	View(ctx context.Context, r Resource, scope external.Scope) (json.RawMessage, error)
	// Create creates the external resource, or adopts one that exists.
	Create(ctx context.Context, r Resource) error
	// Update brings an existing external resource to the spec, in place.
	Update(ctx context.Context, r Resource) error
	// Delete deletes the external resource. It is no error if there is none.
	Delete(ctx context.Context, r Resource) error
	// Watch returns the watch of the external resource, nil if it has to be polled.
	Watch(ctx context.Context, r Resource) (Watch, error)
}

// owner returns who owns what the resource makes.
func (r Resource) owner() external.Owner {
	return external.Owner{Namespace: r.Namespace, Common: r.common, Deleting: r.Deleting}
}

// previous decodes the status that was last observed.
func (r Resource) previous(status any) error {
	if r.Status == nil {
		return nil
	}
	raw, err := json.Marshal(r.Status)
	if err == nil {
		err = json.Unmarshal(raw, status)
	}
	if err != nil {
		return fault.Errorf(fault.Internal, "cannot decode the status of %s: %w", r.Owner, err)
	}
	return nil
}

// Decode copies fields by their JSON names. from encodes to JSON, and to is a
// pointer. A field that to does not have is an error of kind Invalid that names
// it.
func Decode(from, to any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("cannot encode %T: %w", from, err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		// The package has no type for this error.
		if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return fault.Errorf(fault.Invalid, "unknown field %s", field)
		}
		return fault.As(fault.Invalid, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fault.Errorf(fault.Internal, "cannot decode %T: there is more than one value", to)
	}
	return nil
}
