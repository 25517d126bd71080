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

// Read looks at the object. Only what the configuration mentions is compared.
func (r *Resource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	w, ok := r.begin(req.State.Raw, &resp.Diagnostics)
	if !ok {
		return
	}
	// Before RemoveResource: the framework wants an identity even then.
	names().Set(ctx, resp.Identity, w.object, &resp.Diagnostics)
	obj, err := w.kube.Get(ctx, w.of, w.key)
	if fault.Is(err, fault.NotFound) {
		resp.State.RemoveResource(ctx)
		return
	}
	if err == nil {
		err = w.see(obj)
	}
	if err == nil {
		s := look(obj, obj.GetGeneration())
		resp.State.Raw, err = w.state(s.status, s.State)
	}
	if err != nil {
		r.fail(&resp.Diagnostics, "read", w, err)
	}
}

// see takes what the cluster has into the object.
func (w *work) see(obj *unstructured.Unstructured) error {
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

// specOf returns the spec of an object without its secrets: another program may
// have written them, and the state must not hold them.
func (w *work) specOf(obj *unstructured.Unstructured) map[string]any {
	spec, _, _ := unstructured.NestedMap(obj.Object, "spec")
	out, _ := w.crd.Spec.Redact(spec).(map[string]any)
	return out
}

// restrict is what an object has of the keys that a map has.
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

// ImportState takes "namespace/name" or an identity. What was applied from
// Terraform before is told by the object itself: server-side apply records it.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	if !names().Import(ctx, r.Type(), req, resp) {
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
