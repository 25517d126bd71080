package managed

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/fault"
)

// imported is the key of a resource's private data that marks a state which holds
// only the name so far.
const imported = "imported"

// Read observes the external resource, and removes it from the state if it is missing.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	w, ok := r.begin(ctx, req.State.Raw, &resp.Diagnostics)
	if !ok {
		return
	}
	// Before RemoveResource: the framework requires an identity even then.
	r.kind.Identity.Set(ctx, resp.Identity, w.object, &resp.Diagnostics)
	first, d := req.Private.GetKey(ctx, imported)
	resp.Diagnostics.Append(d...)
	o, err := w.read(ctx, first != nil)
	switch {
	case fault.Is(err, fault.NotFound):
		resp.State.RemoveResource(ctx)
		return
	case err != nil:
		r.fail(&resp.Diagnostics, "look up", w.object, err)
		return
	}
	if first != nil {
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, imported, nil)...)
	}
	if resp.State.Raw, err = w.state(o); err != nil {
		r.fail(&resp.Diagnostics, "read", w.object, err)
	}
}

// read observes the external resource and copies its configuration and status
// into the object. After an import only the name is known, and the observed
// configuration becomes the desired one. Errors: NotFound.
func (w *work) read(ctx context.Context, first bool) (catalog.Observation, error) {
	if first {
		if err := w.see(ctx, external.AllFields); err != nil {
			return catalog.Observation{}, err
		}
	}
	o, err := w.look(ctx)
	if err == nil && !o.Exists {
		err = fault.Errorf(fault.NotFound, "%s", o.Message)
	}
	if err == nil && !first {
		err = w.see(ctx, external.SpecFields)
	}
	return o, err
}

// ImportState takes an id such as "bucket/key", or an identity.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	if r.kind.Identity.Import(ctx, r.Type(), req, resp) {
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, imported, []byte("true"))...)
	}
}
