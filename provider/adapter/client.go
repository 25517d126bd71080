package adapter

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/provider/connection"
	"github.com/gorizond/koldun/provider/dependents"
)

// A client acts for one managed resource during one reconcile.
type client[M resource.ModernManaged, S, O any] struct {
	kind    Kind[M, S, O]
	outer   external.Client[S, O]
	set     *connection.Set
	deleted *deletions
	follow  func(s S, watch func(ctx context.Context, changed func()) error)

	applier *dependents.Applier
	there   external.Existing
	changes dependents.Changes // of what the resource makes, as of the last look
	missing bool               // the thing was not there at the last look, and Update makes it
}

// Observe looks at the outside thing, and shows it in the status. What is to be
// deleted is not looked at: nothing that a look needs shall keep it from that,
// and deleting what does not exist does no harm.
func (c *client[M, S, O]) Observe(ctx context.Context, m M) (managed.ExternalObservation, error) {
	if meta.WasDeleted(m) {
		m.SetConditions(xpv2.Deleting())
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
	}
	s, late, err := c.wanted(ctx, m)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if err := c.relatives(ctx, m, &s); err != nil {
		return managed.ExternalObservation{}, err
	}
	o, err := c.look(ctx, m, s)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if c.missing = !o.Exists && c.atOnce(m); c.missing {
		return managed.ExternalObservation{ResourceExists: true}, nil
	}
	if o.UpToDate, err = c.compare(m, s, o); err != nil {
		return managed.ExternalObservation{}, err
	}
	c.watch(ctx, s)
	return managed.ExternalObservation{
		ResourceExists: o.Exists, ResourceUpToDate: o.UpToDate, ResourceLateInitialized: late && o.Exists, ConnectionDetails: o.Connection,
	}, nil
}

// atOnce reports whether a thing that is not there is made as if it were there
// and had to be changed. The runtime writes a resource twice more around a
// creation, to know of one that was broken off; ours can be repeated, and each
// write is an event for whoever composed the resource. What is then to be
// filled in needs the runtime's second look.
func (c *client[M, S, O]) atOnce(m M) bool {
	return allows(m, xpv2.ManagementActionCreate) && allows(m, xpv2.ManagementActionUpdate) &&
		(!c.kind.Keeps || !allows(m, xpv2.ManagementActionLateInitialize))
}

// Create makes the outside thing. What it is like is seen at the next look.
func (c *client[M, S, O]) Create(ctx context.Context, m M) (managed.ExternalCreation, error) {
	s, err := c.spec(ctx, m)
	if err != nil {
		return managed.ExternalCreation{}, err
	}
	return managed.ExternalCreation{}, c.outer.Create(ctx, s)
}

// Update changes the outside thing, or makes it, and looks at once what has
// become of it. A resource that makes objects has nothing else to change.
func (c *client[M, S, O]) Update(ctx context.Context, m M) (managed.ExternalUpdate, error) {
	if c.changes.Any() {
		// What was observed stands: it is what the objects are made of.
		if err := c.applier.Apply(ctx, c.changes); err != nil {
			m.SetConditions(xpv2.Unavailable().WithMessage(err.Error()))
			return managed.ExternalUpdate{}, err
		}
		return managed.ExternalUpdate{}, nil
	}
	s, _, err := c.wanted(ctx, m)
	if err != nil {
		return managed.ExternalUpdate{}, err
	}
	bring := c.outer.Update
	if c.missing {
		bring = c.outer.Create
	}
	if err := bring(ctx, s); err != nil {
		return managed.ExternalUpdate{}, err
	}
	o, err := c.look(ctx, m, s)
	if err == nil && c.missing {
		c.watch(ctx, s)
	}
	return managed.ExternalUpdate{ConnectionDetails: o.Connection}, err
}

// Delete removes the outside thing.
func (c *client[M, S, O]) Delete(ctx context.Context, m M) (managed.ExternalDelete, error) {
	s, err := c.spec(ctx, m)
	if err != nil {
		return managed.ExternalDelete{}, err
	}
	if err := c.outer.Delete(ctx, s); err != nil {
		return managed.ExternalDelete{}, err
	}
	c.deleted.note(m)
	return managed.ExternalDelete{}, nil
}

// Disconnect has nothing to do: connections are shared.
func (c *client[M, S, O]) Disconnect(context.Context) error { return nil }

func (c *client[M, S, O]) spec(ctx context.Context, m M) (S, error) {
	s, err := c.kind.spec(m)
	if err != nil || c.kind.Complete == nil {
		return s, err
	}
	return s, c.kind.Complete(ctx, c.set, m, &s)
}

// relatives adds to a spec what is to be known of the objects that are there.
// One that makes nothing may have done so before.
func (c *client[M, S, O]) relatives(ctx context.Context, m M, s *S) error {
	if c.kind.Dependents == nil {
		return nil
	}
	var err error
	c.there, err = c.applier.Existing(ctx, c.kind.Dependents.Kind, m)
	if err != nil && c.kind.Dependents.Enabled(*s) {
		m.SetConditions(xpv2.Unavailable().WithMessage(err.Error()))
		return err
	}
	c.kind.Dependents.Note(s, c.there)
	return nil
}

// compare reports whether the outside thing and the objects that the resource
// makes are as they should be.
func (c *client[M, S, O]) compare(m M, s S, o external.Observation[O]) (upToDate bool, err error) {
	if c.kind.Dependents == nil {
		return o.UpToDate, nil
	}
	c.changes, err = c.applier.Plan(m, c.kind.Dependents.Objects(s, o.Status), c.there)
	if err != nil {
		m.SetConditions(xpv2.Unavailable().WithMessage(err.Error()))
	}
	return o.UpToDate && !c.changes.Any(), err
}

// look observes and shows.
func (c *client[M, S, O]) look(ctx context.Context, m M, s S) (external.Observation[O], error) {
	o, err := c.outer.Observe(ctx, s)
	if err != nil {
		return o, err
	}
	if o.Ready {
		m.SetConditions(xpv2.Available().WithMessage(o.Message))
	} else {
		m.SetConditions(xpv2.Unavailable().WithMessage(o.Message))
	}
	return o, c.kind.show(m, o.Status)
}

// watch has the thing followed, if it can be.
func (c *client[M, S, O]) watch(ctx context.Context, s S) {
	type watcher interface {
		Watch(ctx context.Context, spec S, changed func()) error
	}
	if c.kind.Watch != nil {
		line, err := c.set.Line(ctx)
		if err != nil {
			return // it is polled; the next look tries again
		}
		c.follow(s, func(ctx context.Context, changed func()) error { return c.kind.Watch(ctx, line, s, changed) })
	} else if w, ok := c.outer.(watcher); ok {
		c.follow(s, func(ctx context.Context, changed func()) error { return w.Watch(ctx, s, changed) })
	}
}
