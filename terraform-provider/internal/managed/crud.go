package managed

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/terraform-provider/internal/tfresource"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
	"github.com/gorizond/koldun/terraform-provider/internal/wait"
)

// Create creates the external resource and waits until it is ready. One that
// exists is refused, unless the provider adopts.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	limit := tfresource.Timeout(ctx, req.Plan, timeouts.Value.Create, r.kind.Ready, &resp.Diagnostics)
	w, want, ok := r.prepare(ctx, r.reveal(req.Plan.Raw, req.Config.Raw), &resp.Diagnostics)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	first := want
	first.Creating = true
	before, err := w.client.Observe(ctx, first)
	if err != nil {
		r.fail(&resp.Diagnostics, "look up", w.object, err)
		return
	}
	if before.Exists && !r.kind.Shared && !r.Adopts(&resp.Diagnostics, r.at(), r.id(w.object)) {
		return
	}
	want.Status = before.Status
	whole, release := tfresource.Uninterrupted(ctx)
	defer release()
	if err := w.client.Create(whole, want); err != nil {
		r.fail(&resp.Diagnostics, "create", w.object, err)
		// A part of it may exist by now.
		if now, err := w.client.Observe(whole, first); before.Exists || err == nil && !now.Exists {
			return
		}
	}
	// From here on it exists: it must be in the state whatever fails.
	resp.State.Raw, err = w.state(catalog.Observation{})
	if err != nil {
		r.fail(&resp.Diagnostics, "read", w.object, err)
		return
	}
	r.kind.Identity.Set(ctx, resp.Identity, w.object, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if raw, ok := r.settle(ctx, w, want, limit, &resp.Diagnostics); ok {
		resp.State.Raw = raw
	}
}

// Update updates the external resource in place, and waits until it is ready.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	limit := tfresource.Timeout(ctx, req.Plan, timeouts.Value.Update, r.kind.Ready, &resp.Diagnostics)
	w, want, ok := r.prepare(ctx, r.reveal(req.Plan.Raw, req.Config.Raw), &resp.Diagnostics)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r.kind.Identity.Set(ctx, resp.Identity, w.object, &resp.Diagnostics)
	want, err := w.continued(req.State.Raw, want)
	if err != nil {
		r.fail(&resp.Diagnostics, "read", w.object, err)
		return
	}
	now, err := w.client.Observe(ctx, want)
	if err != nil {
		r.fail(&resp.Diagnostics, "look up", w.object, err)
		return
	}
	want.Status = now.Status
	whole, release := tfresource.Uninterrupted(ctx)
	defer release()
	switch {
	case !now.Exists:
		err = w.client.Create(whole, want)
	case !now.UpToDate:
		err = w.client.Update(whole, want)
	}
	if err == nil {
		err = r.withdrawn(whole, req.State.Raw, w)
	}
	if err != nil {
		r.fail(&resp.Diagnostics, "update", w.object, err)
		return
	}
	if raw, ok := r.settle(ctx, w, want, limit, &resp.Diagnostics); ok {
		resp.State.Raw = raw
	}
}

// withdrawn deletes the Secret that held the connection, if another one does now.
func (r *Resource) withdrawn(ctx context.Context, state tftypes.Value, w *work) error {
	before, err := tfschema.Unpack(state)
	if err != nil || !r.kind.Connects || before[attrWrite].IsNull() {
		return err
	}
	old, err := r.delivered(w.client, before)
	if err != nil {
		return err
	}
	was, _ := old.(delivery)
	if now, ok := w.client.(delivery); ok && now.to == was.to {
		return nil
	}
	return was.withdraw(ctx)
}

// Delete deletes the external resource.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	limit := tfresource.Timeout(ctx, req.State, timeouts.Value.Delete, r.kind.Ready, &resp.Diagnostics)
	w, want, ok := r.prepare(ctx, req.State.Raw, &resp.Diagnostics)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := w.client.Delete(ctx, want); err != nil {
		r.fail(&resp.Diagnostics, "delete", w.object, err)
	}
}

// prepare begins an operation, and returns the wanted resource.
func (r *Resource) prepare(ctx context.Context, raw tftypes.Value, d *diag.Diagnostics) (*work, catalog.Resource, bool) {
	w, ok := r.begin(ctx, raw, d)
	if !ok {
		return nil, catalog.Resource{}, false
	}
	want, err := w.wanted()
	if err != nil {
		r.Broken(d, "read", err)
	}
	return w, want, err == nil
}

// settle delivers the connection, waits until the external resource is ready, and
// returns the state.
func (r *Resource) settle(ctx context.Context, w *work, want catalog.Resource, limit time.Duration, d *diag.Diagnostics) (tftypes.Value, bool) {
	if out, ok := w.client.(delivery); ok {
		whole, release := tfresource.Uninterrupted(ctx)
		defer release()
		if err := out.deliver(whole, want); err != nil {
			r.fail(d, "write the connection of", w.object, err)
			return tftypes.Value{}, false
		}
	}
	var last catalog.Observation
	_, err := wait.UntilReady(ctx, wait.Read(w.object[attrWait]), fmt.Sprintf("%s %q", r.Type(), r.id(w.object)), limit, d, func(ctx context.Context) (wait.State, error) {
		o, err := w.client.Observe(ctx, want)
		if err == nil {
			last, want.Status = o, o.Status // what was verified is not verified again
		}
		return wait.State{Ready: o.Ready, Message: o.Message}, err
	})
	if err != nil {
		r.fail(d, "look up", w.object, err)
		return tftypes.Value{}, false
	}
	if err := w.fill(context.WithoutCancel(ctx)); err != nil {
		r.fail(d, "read", w.object, err)
		return tftypes.Value{}, false
	}
	if r.kind.Defers && last.Ready && last.Message != "" {
		d.AddWarning(fmt.Sprintf("%s %q needs another apply", r.Type(), r.id(w.object)), last.Message+". Apply again from then on.")
	}
	raw, err := w.state(last)
	if err != nil {
		r.fail(d, "read", w.object, err)
		return tftypes.Value{}, false
	}
	return raw, true
}
