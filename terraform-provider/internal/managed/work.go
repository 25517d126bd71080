package managed

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// A work is one resource being worked on.
type work struct {
	kind   Kind
	crd    *crd.Kind
	typ    tftypes.Type
	object tfschema.Object
	thing  Thing
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
	w.thing = r.open(ctx, w.object, d)
	return w, w.thing != nil
}

// wanted is what the attributes say. The digest of a generated secret is told,
// not wanted.
func (w *work) wanted() (Wanted, error) {
	spec, err := w.object.Known(w.crd.Spec)
	if generates(w.object) {
		delete(spec, w.kind.Digest)
	}
	out := Wanted{Spec: spec}
	if w.kind.Owner {
		out.Name = w.object.Text(attrName)
	}
	return out, err
}

// look observes the thing as the attributes have it.
func (w *work) look(ctx context.Context) (Observed, error) {
	want, err := w.wanted()
	if err != nil {
		return Observed{}, err
	}
	return w.thing.Observe(ctx, want)
}

// see takes into the object how the thing is, as far as anybody can tell. With
// all, also what the object does not speak of. What is gone is an error of kind
// NotFound.
func (w *work) see(ctx context.Context, all bool) error {
	want, err := w.wanted()
	if err != nil {
		return err
	}
	seen, err := w.thing.View(ctx, want, all)
	if err != nil {
		return err
	}
	if seen == nil {
		// Nobody can tell: it is as it was, and by default at first.
		seen = want.Spec
	}
	for _, f := range w.crd.Spec.Fields {
		now := seen[f.Name]
		if now == nil && all && f.Kept {
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

// none is what a kept field is of which a thing has nothing: the configuration
// may say so, or leave it out.
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

// fill tells what the plan has left to the thing.
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
	if err := now.see(ctx, false); err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	for _, a := range open {
		w.object[a] = now.object[a]
	}
	return nil
}

// forget makes null what is not known yet.
func (w *work) forget() {
	for a, v := range w.object {
		if !v.IsFullyKnown() {
			w.object[a] = tftypes.NewValue(v.Type(), nil)
		}
	}
}

// state is the work's object with what was observed.
func (w *work) state(o Observed) (tftypes.Value, error) {
	now := work{object: maps.Clone(w.object)}
	now.forget()
	status := o.Status
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
