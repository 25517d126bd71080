package managed

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// A work is one operation on one resource.
type work struct {
	kind   Kind
	crd    *crd.Kind
	typ    tftypes.Type
	object tfschema.Object
	client catalog.Client
	// status is what the state holds of it: status.atProvider.
	status map[string]any
}

func (r *Resource) begin(ctx context.Context, raw tftypes.Value, d *diag.Diagnostics) (*work, bool) {
	if d.HasError() {
		return nil, false
	}
	c, err := r.crd()
	if err != nil {
		r.Broken(d, "read", err)
		return nil, false
	}
	w := &work{kind: r.kind, crd: c, typ: raw.Type()}
	if w.object, err = tfschema.Unpack(raw); err != nil {
		r.Broken(d, "read", err)
		return nil, false
	}
	if err := w.remember(w.object); err != nil {
		r.Broken(d, "read", err)
		return nil, false
	}
	w.client = r.open(ctx, w.object, d)
	return w, w.client != nil
}

// remember takes the status over that an object holds, as far as it is known.
func (w *work) remember(o tfschema.Object) error {
	v, ok := o[attrStatus]
	if !ok || v.IsNull() || !v.IsKnown() {
		return nil
	}
	status, err := tfschema.Unpack(v)
	if err == nil {
		w.status, err = status.Known(w.crd.Status)
	}
	return err
}

// continued returns a resource with the status that the state holds: a plan does
// not know its status yet.
func (w *work) continued(state tftypes.Value, want catalog.Resource) (catalog.Resource, error) {
	o, err := tfschema.Unpack(state)
	if err == nil {
		err = w.remember(o)
	}
	if w.status != nil {
		want.Status = w.status
	}
	return want, err
}

// wanted returns the resource that the attributes describe. The digest of a
// generated secret is observed, not wanted.
func (w *work) wanted() (catalog.Resource, error) {
	spec, err := w.object.Known(w.crd.Spec)
	if generates(w.object) {
		delete(spec, w.kind.Digest)
	}
	out := catalog.Resource{Spec: spec, Secrets: stored(nil)}
	if w.status != nil {
		out.Status = w.status
	}
	if w.kind.Owner {
		out.Owner = "terraform/" + w.object.Text(attrName)
	}
	if w.kind.Within {
		out.Namespace = w.object.Text(attrNamespace)
	}
	return out, err
}

// look observes the external resource that the attributes describe.
func (w *work) look(ctx context.Context) (catalog.Observation, error) {
	want, err := w.wanted()
	if err != nil {
		return catalog.Observation{}, err
	}
	return w.client.Observe(ctx, want)
}

// see takes the configuration of the external resource into the object, as far as
// its client can view it. Errors: NotFound.
func (w *work) see(ctx context.Context, scope external.Scope) error {
	want, err := w.wanted()
	if err != nil {
		return err
	}
	raw, err := w.client.View(ctx, want, scope)
	if err != nil {
		return err
	}
	seen, err := decode(raw)
	if err != nil {
		return err
	}
	if seen == nil {
		// The client cannot view it: it is as it was, and by default at first.
		seen, _ = want.Spec.(map[string]any)
	}
	for _, f := range w.crd.Spec.Fields {
		now := seen[f.Name]
		if now == nil && scope == external.AllFields && f.Kept {
			now = none(f)
		}
		v, err := tfschema.Merge(f, w.object[f.Attribute], now, tfschema.Whole)
		if err != nil {
			return err
		}
		w.object[f.Attribute] = v
	}
	return nil
}

// none returns the value of a kept field that the external resource does not have:
// the configuration may give it, or leave the field out.
func none(f *crd.Field) any {
	switch {
	case f.Type == crd.String && f.Empty && !f.Duration:
		return ""
	case f.Type == crd.Integer && (f.Minimum == nil || *f.Minimum <= 0):
		return int64(0)
	case f.Type == crd.Object:
		out := map[string]any{}
		for _, c := range f.Fields {
			out[c.Name] = tfschema.Zero(c)
		}
		return out
	}
	return nil
}

// fill sets the attributes that the plan leaves to the external resource.
func (w *work) fill(ctx context.Context) error {
	var open []string
	for _, f := range w.crd.Spec.Fields {
		if !w.object[f.Attribute].IsFullyKnown() {
			open = append(open, f.Attribute)
		}
	}
	if len(open) == 0 {
		return nil
	}
	now := *w
	now.object = maps.Clone(w.object)
	now.forget()
	if err := now.see(ctx, external.SpecFields); err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	for _, a := range open {
		w.object[a] = now.object[a]
	}
	return nil
}

// forget sets attributes to null that are not known yet.
func (w *work) forget() {
	for a, v := range w.object {
		if !v.IsFullyKnown() {
			w.object[a] = tftypes.NewValue(v.Type(), nil)
		}
	}
}

// state returns the object with the observation.
func (w *work) state(o catalog.Observation) (tftypes.Value, error) {
	now := work{object: maps.Clone(w.object)}
	now.forget()
	status, err := decode(o.Status)
	if err != nil {
		return tftypes.Value{}, err
	}
	if status == nil {
		status = map[string]any{}
	}
	v, err := tfschema.Decode(w.crd.Status, status)
	if err != nil {
		return tftypes.Value{}, err
	}
	now.object[attrStatus] = v
	now.object[attrReady] = tftypes.NewValue(tftypes.Bool, o.Ready)
	return now.object.Pack(w.typ), nil
}
