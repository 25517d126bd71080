package adapter

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
)

// A finalizer keeps a resource until its external resource is deleted.
type finalizer struct {
	*resource.APIFinalizer
	observeOnly bool // the kind deletes nothing
}

func newFinalizer(c kube.Client, observeOnly bool) finalizer {
	return finalizer{resource.NewAPIFinalizer(c, managed.FinalizerName), observeOnly}
}

// AddFinalizer writes the finalizer and the spec. It keeps the observed status: the
// response of the API server has the one before the observation, and the next
// observation is a poll interval away.
//
// A composed resource that deletes nothing gets no finalizer: the write would be
// an event for the composite, and Crossplane bounds those.
func (f finalizer) AddFinalizer(ctx context.Context, obj resource.Object) error {
	if metav1.GetControllerOf(obj) != nil && !f.deletes(obj) {
		return nil
	}
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

func (f finalizer) deletes(obj resource.Object) bool {
	m, ok := obj.(resource.Managed)
	return !f.observeOnly && (!ok || allows(m, xpv2.ManagementActionDelete))
}
