package adapter

import (
	"context"
	"errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/dependents"
)

// A client reconciles one managed resource once.
type client struct {
	kind    Kind
	outer   catalog.Client
	set     *connpool.Set
	deleted *deletions
	follow  func(spec map[string]any, watch catalog.Watch)

	applier *dependents.Applier
	changes dependents.Changes // of the dependents, as of the last observation
	missing bool               // the external resource did not exist at the last observation, and Update creates it
}

// Observe observes the external resource and writes the status. It does not
// observe a resource that is being deleted: nothing that an observation needs may
// block the deletion, and to delete what does not exist does no harm.
func (c *client) Observe(ctx context.Context, m managedResource) (managed.ExternalObservation, error) {
	if meta.WasDeleted(m) {
		m.SetConditions(xpv2.Deleting())
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
	}
	r, late, err := c.wanted(ctx, m)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if err := c.existing(ctx, m, &r); err != nil {
		return managed.ExternalObservation{}, err
	}
	o, err := c.observe(ctx, m, r)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if c.missing = !o.Exists && c.createsByUpdate(m); c.missing {
		return managed.ExternalObservation{ResourceExists: true}, nil
	}
	if o.UpToDate, err = c.compare(m, r, o); err != nil {
		return managed.ExternalObservation{}, err
	}
	c.watch(ctx, r)
	return managed.ExternalObservation{
		ResourceExists: o.Exists, ResourceUpToDate: o.UpToDate, ResourceLateInitialized: late && o.Exists, ConnectionDetails: o.Connection,
	}, nil
}

// createsByUpdate reports whether Update creates an external resource that does
// not exist. The runtime writes a managed resource twice more around a creation,
// to recover from one that was interrupted; ours can be repeated, and each write
// is an event for the composite. Late initialization needs the observation that
// follows a creation by the runtime.
func (c *client) createsByUpdate(m managedResource) bool {
	return allows(m, xpv2.ManagementActionCreate) && allows(m, xpv2.ManagementActionUpdate) &&
		(!c.kind.LateInitialize || !allows(m, xpv2.ManagementActionLateInitialize))
}

// Create creates the external resource. The next observation writes the status.
func (c *client) Create(ctx context.Context, m managedResource) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, c.outer.Create(ctx, c.resource(m))
}

// Update changes the external resource, or creates it, and observes it at once.
// A resource with dependents has nothing else to change.
func (c *client) Update(ctx context.Context, m managedResource) (managed.ExternalUpdate, error) {
	if c.changes.Any() {
		// The last observation stands: the dependents follow from it.
		if err := c.applier.Apply(ctx, c.changes); err != nil {
			m.SetConditions(xpv2.Unavailable().WithMessage(err.Error()))
			return managed.ExternalUpdate{}, err
		}
		return managed.ExternalUpdate{}, nil
	}
	r, _, err := c.wanted(ctx, m)
	if err != nil {
		return managed.ExternalUpdate{}, err
	}
	update := c.outer.Update
	if c.missing {
		update = c.outer.Create
	}
	if err := update(ctx, r); err != nil {
		return managed.ExternalUpdate{}, err
	}
	o, err := c.observe(ctx, m, r)
	if err == nil && c.missing {
		c.watch(ctx, r)
	}
	return managed.ExternalUpdate{ConnectionDetails: o.Connection}, err
}

// Delete deletes the external resource.
func (c *client) Delete(ctx context.Context, m managedResource) (managed.ExternalDelete, error) {
	// A namespace that may not use the servers, or does not own the external resource,
	// leaves it, and ends.
	if err := c.outer.Delete(ctx, c.resource(m)); err != nil && !connpool.IsNotAllowed(err) && !errors.Is(err, external.ErrNotOwner) {
		return managed.ExternalDelete{}, err
	}
	c.deleted.note(m)
	return managed.ExternalDelete{}, nil
}

// Disconnect has nothing to do: connections are shared.
func (c *client) Disconnect(context.Context) error { return nil }

// existing adds the objects that may be dependents. A resource without dependents
// may have had some before.
func (c *client) existing(ctx context.Context, m managedResource, r *catalog.Resource) error {
	if !c.kind.Dependents {
		return nil
	}
	kind, needed, err := c.kind.DependentsOf(r.Spec)
	if err != nil {
		return err
	}
	r.Existing, err = c.applier.Existing(ctx, kind, c.kind.Beside, m)
	if err != nil && needed {
		m.SetConditions(xpv2.Unavailable().WithMessage(err.Error()))
		return err
	}
	return nil
}

// compare reports whether the external resource and the dependents are as they
// should be.
func (c *client) compare(m managedResource, r catalog.Resource, o catalog.Observation) (upToDate bool, err error) {
	if !c.kind.Dependents {
		return o.UpToDate, nil
	}
	c.changes, err = c.applier.Plan(m, o.Dependents, r.Existing)
	if err != nil {
		m.SetConditions(xpv2.Unavailable().WithMessage(err.Error()))
	}
	return o.UpToDate && !c.changes.Any(), err
}

// observe observes the external resource and writes the status.
func (c *client) observe(ctx context.Context, m managedResource, r catalog.Resource) (catalog.Observation, error) {
	o, err := c.outer.Observe(ctx, r)
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

// watch starts the watch of the external resource, and stops that of an earlier
// spec. After an error the resource is polled, and the next observation tries
// again.
func (c *client) watch(ctx context.Context, r catalog.Resource) {
	watch, err := c.outer.Watch(ctx, r)
	if err != nil {
		return
	}
	spec, err := fields(r.Spec)
	if err != nil {
		return
	}
	c.follow(spec, watch)
}
