package kube

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
)

// clientSide is the field manager of kubectl apply without server-side apply.
const clientSide = "kubectl-client-side-apply"

// TakeOver moves the fields of kubectl apply to our field manager. Without that
// a field that the configuration drops later would stay in the object. Errors:
// those of Get.
func (c *Client) TakeOver(ctx context.Context, r Resource, k Key) error {
	obj, err := c.Get(ctx, r, k)
	if err != nil {
		return err
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(obj, sets.New(clientSide), FieldManager)
	if err != nil || len(patch) == 0 {
		return c.explain("take over", r, k, err)
	}
	_, err = c.of(r, k).Patch(ctx, k.Name, types.JSONPatchType, patch, metav1.PatchOptions{})
	return c.explain("take over", r, k, err)
}
