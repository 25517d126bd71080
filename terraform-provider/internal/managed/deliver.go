package managed

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/terraform-provider/internal/kube"
)

// annotationWriter on a Secret names the resource that writes it: no other one
// does, nor takes it away.
const annotationWriter = "koldun.gorizond.io/written-by"

// A delivery is a thing whose connection is kept in a Secret of a cluster, where
// workloads find it and no state does.
type delivery struct {
	Thing
	kube   *kube.Client
	to     kube.Key
	writer string // TYPE/ID of the resource
	adopt  bool   // a Secret of somebody else's may become ours
}

func secrets() kube.Resource { return kube.Resource{Version: "v1", Kind: "Secret", Plural: "secrets"} }

// Observe compares the Secret with the connection as well.
func (d delivery) Observe(ctx context.Context, w Wanted) (Observed, error) {
	have, ours, err := d.read(ctx)
	if err != nil {
		return Observed{}, err
	}
	if w.Fresh && !ours && have != nil && !d.adopt {
		return Observed{}, d.taken()
	}
	w.Stored = have
	o, err := d.Thing.Observe(ctx, w)
	if err == nil && o.Exists && (!ours || !holds(have, o.Connection)) {
		o.UpToDate, o.Ready = false, false
		if o.Message == "" {
			o.Message = fmt.Sprintf("Secret %q does not hold the connection", d.to)
		}
	}
	return o, err
}

// Create and Update leave the Secret to deliver: by then the thing is in the
// state.
func (d delivery) Create(ctx context.Context, w Wanted) error {
	return d.change(ctx, w, d.Thing.Create)
}

func (d delivery) Update(ctx context.Context, w Wanted) error {
	return d.change(ctx, w, d.Thing.Update)
}

func (d delivery) change(ctx context.Context, w Wanted, change func(context.Context, Wanted) error) error {
	have, ours, err := d.read(ctx)
	if err != nil {
		return err
	}
	if have != nil && !ours && !d.adopt {
		return d.taken()
	}
	w.Stored = have
	return change(ctx, w)
}

// deliver writes the connection into the Secret, if it is not there.
func (d delivery) deliver(ctx context.Context, w Wanted) error {
	have, ours, err := d.read(ctx)
	if err != nil {
		return err
	}
	w.Stored = have
	o, err := d.Thing.Observe(ctx, w)
	if err != nil || ours && holds(have, o.Connection) {
		return err
	}
	if len(o.Connection) == 0 {
		return fault.Errorf(fault.Invalid, "cannot write Secret %q: there is nothing to connect with", d.to)
	}
	data := map[string]any{}
	for k, v := range o.Connection {
		data[k] = base64.StdEncoding.EncodeToString(v)
	}
	_, err = d.kube.Apply(ctx, secrets(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": data,
		"metadata": map[string]any{
			"namespace": d.to.Namespace, "name": d.to.Name,
			"labels":      map[string]any{"app.kubernetes.io/managed-by": kube.FieldManager},
			"annotations": map[string]any{annotationWriter: d.writer},
		},
	}}, true)
	return err
}

// Delete removes the thing, and then the Secret.
func (d delivery) Delete(ctx context.Context, w Wanted) error {
	if err := d.Thing.Delete(ctx, w); err != nil {
		return err
	}
	return d.withdraw(ctx)
}

// withdraw removes the Secret, if it is ours.
func (d delivery) withdraw(ctx context.Context) error {
	_, ours, err := d.read(ctx)
	if err != nil || !ours {
		return err
	}
	return d.kube.Remove(ctx, secrets(), d.to)
}

// read is what the Secret holds, nil if there is none, and whether this resource
// wrote it.
func (d delivery) read(ctx context.Context) (data map[string][]byte, ours bool, err error) {
	obj, err := d.kube.Get(ctx, secrets(), d.to)
	if fault.Is(err, fault.NotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	texts, _, _ := unstructured.NestedStringMap(obj.Object, "data")
	data = map[string][]byte{}
	for k, text := range texts {
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			data[k] = raw
		}
	}
	return data, obj.GetAnnotations()[annotationWriter] == d.writer, nil
}

func (d delivery) taken() error {
	return fault.Errorf(fault.Conflict, "Secret %q exists, and was not written by %s: name another one, remove it, or set adopt_existing in the provider block", d.to, d.writer)
}

func holds(have, want map[string][]byte) bool {
	return len(want) > 0 && maps.EqualFunc(have, want, slices.Equal)
}
