package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/gorizond/koldun/internal/external"
)

// An Entry describes one managed kind to programs that handle all kinds alike.
type Entry struct {
	// Kind is the name of the kind, such as "Stream".
	Kind string
	// System is the one that the external resources are on.
	System System
	// LateInitialize says that fields which spec.forProvider leaves out keep the
	// values of the external resource. Its client is a Viewer.
	LateInitialize bool
	// Dependents says that objects may depend on a resource.
	Dependents bool
	// Beside is another kind whose objects the resource needs to know. Empty: none.
	Beside string

	erased
}

// erased are the functions of a row without its types. A spec or status is any
// value that encodes to its JSON.
type erased interface {
	// Open opens the client.
	Open(ctx context.Context, c Connections) (Client, error)
	// DependentsOf returns the kind of the objects that may depend on a resource with
	// the spec, and whether some do. The kind is empty if the entry has none.
	DependentsOf(spec any) (kind string, some bool, err error)
	// ExternalName returns the name of the external resource; "" if it is that of
	// the managed resource.
	ExternalName(spec any) (string, error)
	// Pending reports whether work goes on in the background, so that another
	// Observe is due soon.
	Pending(spec, status any) (bool, error)
	// Durations returns the fields of the spec that are durations.
	Durations() []string
	// types returns those of the spec and the status.
	types() (spec, status reflect.Type)
}

// A row describes one kind, once for all programs. Functions that may be nil say
// so.
type row[S, O any] struct {
	kind           string
	system         System
	lateInitialize bool
	// open opens the client. It may be called for each call of the client.
	open func(ctx context.Context, c Connections) (external.Client[S, O], error)
	// complete adds to a decoded spec what its JSON only refers to. May be nil.
	complete func(ctx context.Context, r Resource, s *S) error
	// tokens returns the bucket that the client writes tokens to, "" for the usual one. May be
	// nil.
	tokens func(s S) string
	// owned says that complete needs to know who else uses the system.
	owned bool
	// externalName is the name of the external resource. Nil: that of the managed
	// resource.
	externalName func(s S) string
	// pending reports whether work continues in the background. May be nil.
	pending func(s S, o O) bool
	// watch returns the watch of an external resource. Nil: the client is a
	// Watcher, or the resource has to be polled.
	watch func(ctx context.Context, c Connections, s S) (Watch, error)
	// dependents describes the objects that depend on a resource. Nil: none.
	dependents *external.Dependents[S, O]
}

// Erase hides the types of a row.
func Erase[S, O any](r row[S, O]) Entry {
	e := Entry{Kind: r.kind, System: r.system, LateInitialize: r.lateInitialize, Dependents: r.dependents != nil, erased: r}
	if r.dependents != nil {
		e.Beside = r.dependents.Beside
	}
	return e
}

func (r row[S, O]) Open(ctx context.Context, c Connections) (Client, error) {
	client, err := r.open(ctx, c)
	if err != nil {
		return nil, err
	}
	return erasedClient[S, O]{row: r, client: client, connections: c}, nil
}

func (r row[S, O]) DependentsOf(spec any) (kind string, some bool, err error) {
	if r.dependents == nil {
		return "", false, nil
	}
	s, err := r.decode(spec)
	if err != nil {
		return "", false, err
	}
	return r.dependents.Kind(s), r.dependents.Enabled(s), nil
}

func (r row[S, O]) ExternalName(spec any) (string, error) {
	if r.externalName == nil {
		return "", nil
	}
	s, err := r.decode(spec)
	if err != nil {
		return "", err
	}
	return r.externalName(s), nil
}

func (r row[S, O]) Pending(spec, status any) (bool, error) {
	if r.pending == nil {
		return false, nil
	}
	s, err := r.decode(spec)
	if err != nil {
		return false, err
	}
	var o O
	err = Resource{Status: status}.previous(&o)
	return err == nil && r.pending(s, o), err
}

func (r row[S, O]) Durations() []string {
	var out []string
	t := reflect.TypeFor[S]()
	for i := range t.NumField() {
		f := t.Field(i)
		switch f.Type {
		case reflect.TypeFor[*external.Duration](), reflect.TypeFor[external.Duration](), reflect.TypeFor[[]external.Duration]():
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			out = append(out, name)
		}
	}
	return out
}

func (r row[S, O]) types() (spec, status reflect.Type) {
	return reflect.TypeFor[S](), reflect.TypeFor[O]()
}

func (r row[S, O]) decode(spec any) (S, error) {
	var s S
	if err := Decode(spec, &s); err != nil {
		return s, fmt.Errorf("cannot read spec.forProvider of %s: %w", r.kind, err)
	}
	return s, nil
}

// An erasedClient is the client of a row on connections.
type erasedClient[S, O any] struct {
	row         row[S, O]
	client      external.Client[S, O]
	connections Connections
}

func (c erasedClient[S, O]) spec(ctx context.Context, r Resource) (S, error) {
	s, err := c.row.decode(r.Spec)
	if err != nil {
		return s, err
	}
	if c.row.dependents != nil {
		c.row.dependents.Note(&s, r.Existing)
	}
	if c.row.tokens != nil && !r.Deleting {
		if err := checkTokens(ctx, c.connections, c.row.tokens(s)); err != nil {
			return s, err
		}
	}
	if c.row.complete == nil {
		return s, nil
	}
	if c.row.owned {
		if r.common, err = c.connections.Common(ctx, c.row.system); err != nil {
			return s, err
		}
	}
	return s, c.row.complete(ctx, r, &s)
}

func (c erasedClient[S, O]) Observe(ctx context.Context, r Resource) (Observation, error) {
	s, err := c.spec(ctx, r)
	if err != nil {
		return Observation{}, err
	}
	o, err := c.client.Observe(ctx, s)
	if err != nil {
		return Observation{}, err
	}
	status, err := json.Marshal(o.Status)
	if err != nil {
		return Observation{}, fmt.Errorf("cannot encode the status of %s: %w", c.row.kind, err)
	}
	out := Observation{Exists: o.Exists, UpToDate: o.UpToDate, Ready: o.Ready, Message: o.Message, Status: status, Connection: o.Connection}
	if c.row.dependents != nil {
		out.Dependents = c.row.dependents.Objects(s, o.Status)
	}
	return out, nil
}

func (c erasedClient[S, O]) CanView() bool {
	_, ok := c.client.(external.Viewer[S])
	return ok
}

func (c erasedClient[S, O]) View(ctx context.Context, r Resource, scope external.Scope) (json.RawMessage, error) {
	viewer, ok := c.client.(external.Viewer[S])
	if !ok {
		return nil, nil
	}
	s, err := c.spec(ctx, r)
	if err != nil {
		return nil, err
	}
	seen, err := viewer.View(ctx, s, scope)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(seen)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the spec of %s: %w", c.row.kind, err)
	}
	return raw, nil
}

func (c erasedClient[S, O]) Create(ctx context.Context, r Resource) error {
	s, err := c.spec(ctx, r)
	if err != nil {
		return err
	}
	return c.client.Create(ctx, s)
}

func (c erasedClient[S, O]) Update(ctx context.Context, r Resource) error {
	s, err := c.spec(ctx, r)
	if err != nil {
		return err
	}
	return c.client.Update(ctx, s)
}

func (c erasedClient[S, O]) Delete(ctx context.Context, r Resource) error {
	r.Deleting = true
	s, err := c.spec(ctx, r)
	if err != nil {
		return err
	}
	return c.client.Delete(ctx, s)
}

func (c erasedClient[S, O]) Watch(ctx context.Context, r Resource) (Watch, error) {
	watcher, ok := c.client.(external.Watcher[S])
	if !ok && c.row.watch == nil {
		return nil, nil
	}
	s, err := c.spec(ctx, r)
	if err != nil {
		return nil, err
	}
	if c.row.watch != nil {
		return c.row.watch(ctx, c.connections, s)
	}
	return func(ctx context.Context, changed func()) error { return watcher.Watch(ctx, s, changed) }, nil
}
