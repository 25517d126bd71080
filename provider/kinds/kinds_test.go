package kinds_test

import (
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/provider/kinds"
)

// Every managed resource of the API has a controller, and no controller is
// without its kind.
func TestAllKindsAreThere(t *testing.T) {
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	managed := reflect.TypeFor[resource.ModernManaged]()
	for kind, of := range s.KnownTypes(v1alpha1.GroupVersion) {
		if reflect.PointerTo(of).Implements(managed) {
			want = append(want, kind)
		}
	}
	for _, k := range kinds.All(nil) {
		got = append(got, k.KindName())
		k.Close()
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("the controllers are of %v, want %v", got, want)
	}
}
