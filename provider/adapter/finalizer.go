package adapter

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
)

// A finalizer keeps what was observed while it writes: the answer of the API
// server holds the status before the observation, and the next look at what was
// just taken over is a poll interval away.
type finalizer struct{ *resource.APIFinalizer }

func newFinalizer(c kube.Client) finalizer {
	return finalizer{resource.NewAPIFinalizer(c, managed.FinalizerName)}
}

// AddFinalizer writes the finalizer and the spec.
func (f finalizer) AddFinalizer(ctx context.Context, obj resource.Object) error {
	written, ok := obj.DeepCopyObject().(resource.Object)
	if !ok {
		return fmt.Errorf("cannot copy %T", obj)
	}
	if err := f.APIFinalizer.AddFinalizer(ctx, written); err != nil {
		return err
	}
	obj.SetFinalizers(written.GetFinalizers())
	obj.SetResourceVersion(written.GetResourceVersion())
	obj.SetGeneration(written.GetGeneration())
	return nil
}
