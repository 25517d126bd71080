package managed

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/terraform-provider/internal/kube"
)

// annotationWriter on a Secret names the resource that writes it. No other resource
// writes or deletes it.
const annotationWriter = "koldun.gorizond.io/written-by"

// A delivery is a client that keeps the connection in a Secret of a cluster, where
// workloads find it, and not in the state.
type delivery struct {
	catalog.Client
	kube   *kube.Client
	to     kube.Key
	writer string // TYPE/ID of the resource
	adopt  bool   // a Secret of another writer may become ours
}

func secrets() kube.Resource { return kube.Resource{Version: "v1", Kind: "Secret", Plural: "secrets"} }

// Observe compares the Secret with the connection as well.
func (d delivery) Observe(ctx context.Context, w catalog.Resource) (catalog.Observation, error) {
	have, ours, err := d.read(ctx)
	if err != nil {
		return catalog.Observation{}, err
	}
	if w.Creating && !ours && have != nil && !d.adopt {
		return catalog.Observation{}, d.taken()
	}
	w.Secrets = stored(have)
	o, err := d.Client.Observe(ctx, w)
	if err == nil && o.Exists && (!ours || !holds(have, o.Connection)) {
		o.UpToDate, o.Ready = false, false
		if o.Message == "" {
			o.Message = fmt.Sprintf("Secret %q does not hold the connection", d.to)
		}
	}
	return o, err
}

// Create creates the resource. deliver writes the Secret once the resource is in the
// state.
func (d delivery) Create(ctx context.Context, w catalog.Resource) error {
	return d.change(ctx, w, d.Client.Create)
}

// Update updates the resource, and leaves the Secret to deliver.
func (d delivery) Update(ctx context.Context, w catalog.Resource) error {
	return d.change(ctx, w, d.Client.Update)
}

func (d delivery) change(ctx context.Context, w catalog.Resource, change func(context.Context, catalog.Resource) error) error {
	have, ours, err := d.read(ctx)
	if err != nil {
		return err
	}
	if have != nil && !ours && !d.adopt {
		return d.taken()
	}
	w.Secrets = stored(have)
	return change(ctx, w)
}

// deliver writes the connection into the Secret, unless the Secret holds it.
func (d delivery) deliver(ctx context.Context, w catalog.Resource) error {
	have, ours, err := d.read(ctx)
	if err != nil {
		return err
	}
	w.Secrets = stored(have)
	o, err := d.Client.Observe(ctx, w)
	if err != nil || ours && holds(have, o.Connection) {
		return err
	}
	if len(o.Connection) == 0 {
		return fault.Errorf(fault.Invalid, "cannot write Secret %q: the resource has no connection", d.to)
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

// Delete deletes the resource, and then the Secret.
func (d delivery) Delete(ctx context.Context, w catalog.Resource) error {
	if err := d.Client.Delete(ctx, w); err != nil {
		return err
	}
	return d.withdraw(ctx)
}

// withdraw deletes the Secret, if this resource wrote it.
func (d delivery) withdraw(ctx context.Context) error {
	_, ours, err := d.read(ctx)
	if err != nil || !ours {
		return err
	}
	return d.kube.Remove(ctx, secrets(), d.to)
}

// read returns the data of the Secret, nil if there is none, and whether this
// resource wrote it.
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
