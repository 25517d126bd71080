package managed

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
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
	imported := r.imported(w)
	if err := r.see(w, o, imported); err != nil {
		r.fail(&resp.Diagnostics, "read", w.object, err)
		return
	}
	if imported {
		o = r.again(ctx, w, o)
	}
	if resp.State.Raw, err = w.state(o); err != nil {
		r.fail(&resp.Diagnostics, "read", w.object, err)
	}
}

// see takes what was seen into the object.
func (r *Resource) see(w *work, o Observed, imported bool) error {
	for _, f := range w.crd.Spec.Fields {
		if !imported && w.object[f.Attribute].IsNull() && slices.Contains(r.kind.Kept, f.Name) {
			continue
		}
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

// imported reports whether the state has but the name of a thing that was just
// imported: an apply fills in the rest.
func (r *Resource) imported(w *work) bool {
	return slices.ContainsFunc(w.crd.Spec.Fields, func(f *crd.Field) bool {
		_, had := w.spec[f.Name]
		return !had && (f.Required || face.Zero(f) != nil)
	})
}

// again looks once more at a thing that was just imported: the first look knew
// nothing but its name, and so could not tell whether it is as it should be.
func (r *Resource) again(ctx context.Context, w *work, first Observed) Observed {
	spec, err := r.spec(w.object, w.crd)
	if err != nil {
		return first
	}
	o, err := w.thing.Observe(ctx, spec)
	if err != nil {
		return first
	}
	return o
}

// ImportState takes an id such as "bucket/key", or an identity.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	r.kind.Identity.Import(ctx, "koldun_"+r.kind.Name, req, resp)
}
