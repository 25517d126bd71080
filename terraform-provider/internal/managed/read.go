package managed

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/face"
)

// Read looks at the thing. One that is gone leaves the state.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	w, ok := r.begin(ctx, req.State.Raw, &resp.Diagnostics)
	if !ok {
		return
	}
	// Before RemoveResource: the framework wants an identity even then.
	r.kind.Identity.Set(ctx, resp.Identity, w.object, &resp.Diagnostics)
	o, err := w.thing.Observe(ctx, w.spec)
	if err != nil {
		r.fail(&resp.Diagnostics, "look up", w.object, err)
		return
	}
	if !o.Exists {
		resp.State.RemoveResource(ctx)
		return
	}
	if err := w.see(o); err != nil {
		r.fail(&resp.Diagnostics, "read", w.object, err)
		return
	}
	if imported, err := r.imported(ctx, w, o); err == nil {
		o = imported
	}
	if resp.State.Raw, err = w.state(o); err != nil {
		r.fail(&resp.Diagnostics, "read", w.object, err)
	}
}

// see takes what was seen into the object.
func (w *work) see(o Observed) error {
	for _, f := range w.crd.Spec.Fields {
		seen := o.Spec[f.Name]
		if o.Spec == nil {
			// Nobody can tell: it is as it was, and by default at first.
			seen = w.spec[f.Name]
		}
		v, err := face.Merge(f, w.object[f.Attribute], seen, face.Whole)
		if err != nil {
			return err
		}
		w.object[f.Attribute] = v
	}
	return nil
}

// imported looks again at a thing that was just imported: the first look knew
// nothing but its name, and so could not tell whether it is as it should be.
func (r *Resource) imported(ctx context.Context, w *work, o Observed) (Observed, error) {
	complete := true
	for _, f := range w.crd.Spec.Fields {
		_, had := w.spec[f.Name]
		complete = complete && (had || !f.Required && face.Zero(f) == nil)
	}
	if complete {
		return o, nil
	}
	spec, err := r.spec(w.object, w.crd)
	if err != nil {
		return o, err
	}
	return w.thing.Observe(ctx, spec)
}

// ImportState takes an id such as "bucket/key", or an identity.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.kind.Identity.Import(ctx, "koldun_"+r.kind.Name, req, resp)
}
