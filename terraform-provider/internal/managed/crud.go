package managed

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/face"
	"github.com/gorizond/koldun/terraform-provider/internal/wait"
)

// Create makes the thing and waits until it is ready. What exists already is
// refused, unless the provider adopts.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var limits timeouts.Value
	resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, path.Root(attrTimeouts), &limits)...)
	limit, d := limits.Create(ctx, r.kind.Ready)
	resp.Diagnostics.Append(d...)
	w, ok := r.begin(ctx, r.reveal(req.Plan.Raw, req.Config.Raw), &resp.Diagnostics)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	before, err := w.thing.Observe(ctx, w.spec)
	if err != nil {
		r.fail(&resp.Diagnostics, "look up", w.object, err)
		return
	}
	if before.Exists && !r.kind.Shared && !r.connections.Settings.Adopt {
		resp.Diagnostics.AddAttributeError(path.Root(r.kind.Identity[0]), fmt.Sprintf("koldun_%s %q exists already", r.kind.Name, r.name(w.object)),
			fmt.Sprintf("Take it over with:\n\n  terraform import koldun_%s.NAME %q\n\nor set adopt_existing = true in the provider block.", r.kind.Name, r.name(w.object)))
		return
	}
	if err := w.thing.Create(ctx, w.spec); err != nil {
		r.fail(&resp.Diagnostics, "create", w.object, err)
		// A part of it may be there by now.
		if now, err := w.thing.Observe(ctx, w.spec); before.Exists || err == nil && !now.Exists {
			return
		}
	}
	// From here on it exists: it must be in the state whatever comes.
	resp.State.Raw, err = w.state(Observed{})
	if err != nil {
		r.fail(&resp.Diagnostics, "read", w.object, err)
		return
	}
	r.kind.Identity.Set(ctx, resp.Identity, w.object, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if raw, ok := r.settle(ctx, w, limit, &resp.Diagnostics); ok {
		resp.State.Raw = raw
	}
}

// Update brings the thing to what is configured, in place, and waits.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var limits timeouts.Value
	resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, path.Root(attrTimeouts), &limits)...)
	limit, d := limits.Update(ctx, r.kind.Ready)
	resp.Diagnostics.Append(d...)
	w, ok := r.begin(ctx, r.reveal(req.Plan.Raw, req.Config.Raw), &resp.Diagnostics)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r.kind.Identity.Set(ctx, resp.Identity, w.object, &resp.Diagnostics)
	now, err := w.thing.Observe(ctx, w.spec)
	if err != nil {
		r.fail(&resp.Diagnostics, "look up", w.object, err)
		return
	}
	switch {
	case !now.Exists:
		err = w.thing.Create(ctx, w.spec)
	case !now.UpToDate:
		err = w.thing.Update(ctx, w.spec)
	}
	if err != nil {
		r.fail(&resp.Diagnostics, "update", w.object, err)
		return
	}
	if raw, ok := r.settle(ctx, w, limit, &resp.Diagnostics); ok {
		resp.State.Raw = raw
	}
}

// Delete removes the thing.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var limits timeouts.Value
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root(attrTimeouts), &limits)...)
	limit, d := limits.Delete(ctx, r.kind.Ready)
	resp.Diagnostics.Append(d...)
	w, ok := r.begin(ctx, req.State.Raw, &resp.Diagnostics)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := w.thing.Delete(ctx, w.spec); err != nil {
		r.fail(&resp.Diagnostics, "delete", w.object, err)
	}
}

// A work is one resource being worked on.
type work struct {
	crd    *crd.Kind
	typ    tftypes.Type
	object face.Object
	spec   map[string]any
	thing  Thing
}

func (r *Resource) begin(ctx context.Context, raw tftypes.Value, d *diag.Diagnostics) (*work, bool) {
	if d.HasError() {
		return nil, false
	}
	c, err := r.crd()
	if err == nil {
		w := &work{crd: c, typ: raw.Type()}
		if w.object, err = face.Unpack(raw); err == nil {
			w.spec, err = r.spec(w.object, c)
		}
		if err == nil {
			w.thing = r.open(ctx, d)
			return w, w.thing != nil
		}
	}
	d.AddError("Cannot read koldun_"+r.kind.Name, err.Error())
	return nil, false
}

// spec is what the attributes say, with the owner's name.
func (r *Resource) spec(o face.Object, c *crd.Kind) (map[string]any, error) {
	spec, err := o.Known(c.Spec)
	if err == nil && r.kind.Owner {
		spec[attrName] = o.Text(attrName)
	}
	return spec, err
}

// state is the work's object with what was observed.
func (w *work) state(o Observed) (tftypes.Value, error) {
	out := face.Object{}
	for k, v := range w.object {
		out[k] = v
	}
	status := o.Status
	if status == nil {
		status = map[string]any{}
	}
	v, err := face.Decode(w.crd.Status, status)
	if err != nil {
		return tftypes.Value{}, err
	}
	out[attrStatus] = v
	out[attrReady] = tftypes.NewValue(tftypes.Bool, o.Ready)
	return out.Pack(w.typ), nil
}

// settle waits until the thing is ready, and returns the state then.
func (r *Resource) settle(ctx context.Context, w *work, limit time.Duration, d *diag.Diagnostics) (tftypes.Value, bool) {
	policy := wait.Read(w.object[attrWait])
	var last Observed
	s, err := wait.Until(ctx, func(ctx context.Context) (wait.State, error) {
		o, err := w.thing.Observe(ctx, w.spec)
		if err != nil {
			return wait.State{}, err
		}
		last = o
		return wait.State{Ready: o.Ready, Final: policy.None, Message: o.Message}, nil
	})
	if err != nil {
		r.fail(d, "look up", w.object, err)
		return tftypes.Value{}, false
	}
	if !s.Ready && !policy.None {
		wait.Report(d, policy, fmt.Sprintf("koldun_%s %q", r.kind.Name, r.name(w.object)), limit, s)
	}
	raw, err := w.state(last)
	if err != nil {
		r.fail(d, "read", w.object, err)
		return tftypes.Value{}, false
	}
	return raw, true
}
