package claim

import (
	"context"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
	"github.com/gorizond/koldun/terraform-provider/internal/wait"
)

// manifest returns the object with only the fields in the configuration.
func (w *work) manifest() (*unstructured.Unstructured, error) {
	spec, err := w.object.Known(w.crd.Spec)
	if err != nil {
		return nil, err
	}
	meta := map[string]any{"name": w.key.Name}
	if w.key.Namespace != "" {
		meta["namespace"] = w.key.Namespace
	}
	for _, a := range []string{attrLabels, attrAnnotations} {
		if m := w.object.Strings(a); len(m) > 0 {
			meta[a] = m
		}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": w.crd.APIVersion(), "kind": w.crd.Kind, "metadata": meta, "spec": spec,
	}}, nil
}

// getOnceKnown reads the object. While the cluster does not know the kind, it
// waits, but not longer than within.
func (w *work) getOnceKnown(ctx context.Context, within time.Duration) (*unstructured.Unstructured, error) {
	obj, err := w.kube.Get(ctx, w.of, w.key)
	if within == 0 || !fault.Is(err, fault.Unsupported) {
		return obj, err
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	_, _ = wait.Poll(ctx, func(ctx context.Context) (wait.State, error) {
		obj, err = w.kube.Get(ctx, w.of, w.key)
		return wait.State{Ready: !fault.Is(err, fault.Unsupported), Reason: "KindUnknown"}, nil
	}, false)
	return obj, err
}

// state returns the state of the object with the status in the cluster.
func (w *work) state(status map[string]any, s wait.State) (tftypes.Value, error) {
	if status == nil {
		status = map[string]any{}
	}
	v, err := tfschema.Decode(w.crd.Status, status)
	if err != nil {
		return tftypes.Value{}, err
	}
	out := maps.Clone(w.object)
	if out[attrStatus], err = withPlanned(w.planned, v); err != nil {
		return tftypes.Value{}, err
	}
	out[attrReady] = tftypes.NewValue(tftypes.Bool, s.Ready)
	out.Set(attrReason, s.Text())
	return out.Pack(w.typ), nil
}

// withPlanned returns a status with the values that the plan knew: Terraform
// refuses others as inconsistent. The next refresh shows if one has changed.
func withPlanned(plan, status tftypes.Value) (tftypes.Value, error) {
	if plan.Type() == nil || plan.IsNull() || !plan.IsKnown() {
		return status, nil
	}
	known, err := tfschema.Unpack(plan)
	if err != nil {
		return status, err
	}
	out, err := tfschema.Unpack(status)
	if err != nil {
		return status, err
	}
	for a, v := range known {
		if v.IsFullyKnown() {
			out[a] = v
		}
	}
	return out.Pack(status.Type()), nil
}
