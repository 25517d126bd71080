package claim

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/terraform-provider/internal/kube"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// Read reads the object. It compares only the fields in the configuration.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	w, ok := r.begin(req.State.Raw, &resp.Diagnostics)
	if !ok {
		return
	}
	// Before RemoveResource, because the framework requires an identity even then.
	r.names().Set(ctx, resp.Identity, w.object, &resp.Diagnostics)
	obj, err := w.kube.Get(ctx, w.of, w.key)
	if fault.Is(err, fault.NotFound) {
		resp.State.RemoveResource(ctx)
		return
	}
	if err == nil {
		err = w.merge(obj)
	}
	if err == nil {
		s := observe(obj, obj.GetGeneration())
		resp.State.Raw, err = w.state(s.status, s.State)
	}
	if err != nil {
		r.fail(&resp.Diagnostics, "read", w, err)
	}
}

// merge merges the fields of an object in the cluster into the state.
func (w *work) merge(obj *unstructured.Unstructured) error {
	spec := w.specOf(obj)
	for _, f := range w.crd.Spec.Fields {
		v, err := tfschema.Merge(f, w.object[f.Attribute], spec[f.Name], tfschema.Configured)
		if err != nil {
			return err
		}
		w.object[f.Attribute] = v
	}
	for a, have := range map[string]map[string]string{attrLabels: obj.GetLabels(), attrAnnotations: obj.GetAnnotations()} {
		w.object[a] = restrict(w.object[a], have)
	}
	return nil
}

// specOf returns the spec of an object without its secrets, which another program
// may have written: the state must not hold them.
func (w *work) specOf(obj *unstructured.Unstructured) map[string]any {
	spec, _, _ := unstructured.NestedMap(obj.Object, "spec")
	out, _ := w.crd.Spec.Redact(spec).(map[string]any)
	return out
}

// restrict returns the entries of have with the keys of prior.
func restrict(prior tftypes.Value, have map[string]string) tftypes.Value {
	var keys map[string]tftypes.Value
	if prior.IsNull() || !prior.IsKnown() || prior.As(&keys) != nil {
		return prior
	}
	out := map[string]tftypes.Value{}
	for k := range keys {
		if v, ok := have[k]; ok {
			out[k] = tftypes.NewValue(tftypes.String, v)
		}
	}
	return tftypes.NewValue(prior.Type(), out)
}

// ImportState takes "namespace/name", "name" of a cluster-scoped kind, or an identity. It imports the fields that
// Terraform applied before, which the object's managed fields record.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	if !r.names().Import(ctx, r.Type(), req, resp) {
		return
	}
	w, ok := r.begin(resp.State.Raw, &resp.Diagnostics)
	if !ok {
		return
	}
	obj, err := w.kube.Get(ctx, w.of, w.key)
	if err != nil {
		r.fail(&resp.Diagnostics, "import", w, err)
		return
	}
	mine := kube.Owned(obj, w.crd.Spec)
	spec, _ := w.crd.Spec.Redact(mine.Spec).(map[string]any)
	for _, f := range w.crd.Spec.Fields {
		if w.object[f.Attribute], err = tfschema.Decode(f, spec[f.Name]); err != nil {
			r.fail(&resp.Diagnostics, "import", w, err)
			return
		}
	}
	for a, m := range map[string]map[string]any{attrLabels: mine.Labels, attrAnnotations: mine.Annotations} {
		values := map[string]tftypes.Value{}
		for k, v := range m {
			values[k] = tftypes.NewValue(tftypes.String, v)
		}
		w.object[a] = tftypes.NewValue(tftypes.Map{ElementType: tftypes.String}, values)
	}
	resp.State.Raw = w.object.Pack(w.typ)
}
