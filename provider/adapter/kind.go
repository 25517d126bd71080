// Package adapter brings managed resources about by clients of outside things
// (internal/external): one thin controller, the same for all kinds.
//
// A kind is a small file of package kinds: a [Kind] value that says where the
// fields are, how a client is opened, and what is special.
//
//	func stream() adapter.Any {
//		return adapter.Kind[*v1alpha1.Stream, stream.Spec, stream.Status]{
//			Name:   v1alpha1.KindStream,
//			Fields: func(m *v1alpha1.Stream) (any, any) { return &m.Spec.ForProvider, &m.Status.AtProvider },
//			Open: func(ctx context.Context, c *connection.Set) (external.Client[stream.Spec, stream.Status], error) {
//				b, env, err := c.NATS(ctx)
//				return stream.New(b, env), err
//			},
//		}
//	}
//
// The fields of spec.forProvider and status.atProvider have the JSON names of
// the client's spec and status: they are copied by them. A client that has a
// method
//
//	Watch(ctx context.Context, spec S, changed func()) error
//
// is watched; others are polled, unless the Kind has Watch. A client that keeps
// something between calls is opened with connection.Shared, once per connection.
//
// To add a kind: types in apis/managed/v1alpha1, make generate, a file in
// package kinds, and its name in kinds.All.
package adapter

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/connection"
)

// A Kind says how the managed resources M of one kind are brought about by a
// client with the specs S and statuses O. Functions may be called from many
// goroutines.
type Kind[M resource.ModernManaged, S, O any] struct {
	// Name of the kind, such as "Stream".
	Name string
	// Fields are pointers to spec.forProvider and status.atProvider.
	Fields func(M) (parameters, observation any)
	// Open makes a client. It is called at each reconcile.
	Open func(ctx context.Context, c *connection.Set) (external.Client[S, O], error)

	// Here says that the thing is in this cluster: no ProviderConfig is used.
	Here bool
	// ExternalName is what the outside thing is called. Nil: the resource's name.
	ExternalName func(S) string
	// Complete adds to a spec what spec.forProvider only refers to or leaves to
	// the rest of the resource. May be nil.
	Complete func(ctx context.Context, c *connection.Set, m M, s *S) error
	// Keeps says that what spec.forProvider leaves out stays as it is outside: it
	// is filled in with what was found there. The client is an external.Viewer.
	Keeps bool
	// Busy reports that something is under way in the background, which is worth
	// another look soon. May be nil.
	Busy func(m M) bool
	// End is called when the provider ends. May be nil.
	End func()
	// Watch calls changed whenever Observe would find something else, until ctx
	// ends. Errors have it begun again after the next reconcile. May be nil.
	Watch func(ctx context.Context, l *connection.Line, s S, changed func()) error
	// Dependents says which objects are made in the namespace of the resource. Nil:
	// none.
	Dependents *external.Dependents[S, O]
}

// Any is a Kind of whatever types.
type Any interface {
	// KindName is the name of the kind.
	KindName() string
	// NeedsDeletion reports whether something is deleted through a connection.
	NeedsDeletion() bool
	// Setup adds the controller of the kind to the manager.
	Setup(mgr ctrl.Manager, o Options) error
	// Close ends what the kind has running. It is called once, after its
	// controller has ended.
	Close()
}

// KindName is the name of the kind.
func (k Kind[M, S, O]) KindName() string { return k.Name }

// NeedsDeletion reports whether something is deleted through a connection.
func (k Kind[M, S, O]) NeedsDeletion() bool { return !k.observeOnly() && !k.Here }

func (k Kind[M, S, O]) observeOnly() bool { return v1alpha1.ObserveOnly(k.Name) }

// Close ends what the kind has running.
func (k Kind[M, S, O]) Close() {
	if k.End != nil {
		k.End()
	}
}

// spec reads spec.forProvider, without what Complete adds.
func (k Kind[M, S, O]) spec(m M) (S, error) {
	var s S
	parameters, _ := k.Fields(m)
	if err := Convert(parameters, &s); err != nil {
		return s, fault.Errorf(fault.Invalid, "cannot read spec.forProvider: %w", err)
	}
	return s, nil
}

// show writes status.atProvider.
func (k Kind[M, S, O]) show(m M, o O) error {
	_, observation := k.Fields(m)
	reflect.ValueOf(observation).Elem().SetZero()
	if err := Convert(o, observation); err != nil {
		return fmt.Errorf("cannot show status of %s %q: %w", k.Name, m.GetName(), err)
	}
	return nil
}

// Convert copies fields by their JSON names; to is a pointer.
func Convert(from, to any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return fault.Errorf(fault.Internal, "cannot encode %T: %w", from, err)
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return fault.Errorf(fault.Internal, "cannot decode %T: %w", to, err)
	}
	return nil
}
