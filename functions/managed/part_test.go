package managed_test

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/unstructured/claim"
	"github.com/google/go-cmp/cmp"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/managed"
)

// TestPartIsTraced reads the reference that crossplane beta trace follows, as it does.
func TestPartIsTraced(t *testing.T) {
	rsp := composetest.Run(t, func(call *compose.Call) error {
		return managed.Part{Namespace: "ns", Kind: v1.KindModel, Name: "m", Spec: v1.ModelSpec{}}.Compose(call, "part", "p")
	}, composetest.Case{Composite: ingress})
	part := claim.New()
	part.Object = rsp.GetDesired().GetResources()["part"].GetResource().AsMap()
	ref := part.GetResourceReference()
	if ref == nil || ref.Namespace == nil {
		t.Fatalf("the Part has no reference: %v", part.Object)
	}
	if d := cmp.Diff([]string{"koldun.gorizond.io/v1", "Model", "ns", "m"}, []string{ref.APIVersion, ref.Kind, *ref.Namespace, ref.Name}); d != "" {
		t.Error(d)
	}
}
