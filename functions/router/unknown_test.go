package router_test

import (
	"maps"
	"slices"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
)

// What an object refers to is found, absent, or not known yet. While it is not known,
// all that is composed stays.
func TestWhatIsComposedStaysWhileReferencesAreNotKnown(t *testing.T) {
	asked := 0
	for kind, all := range worlds() {
		w := &walker{t: t, kind: kind}
		for _, in := range all {
			for _, s := range in.states {
				composite := w.composite(in)
				known := w.run(s, composite)
				xr, err := structpb.NewStruct(plain(composite))
				if err != nil {
					t.Fatal(err)
				}
				req := &fnv1.RunFunctionRequest{
					Observed:          &fnv1.State{Composite: &fnv1.Resource{Resource: xr}, Resources: map[string]*fnv1.Resource{}},
					RequiredResources: map[string]*fnv1.Resources{},
				}
				for name, r := range known.GetDesired().GetResources() {
					req.Observed.Resources[name] = &fnv1.Resource{Resource: proto.CloneOf(r.GetResource())}
				}
				for missing := range known.GetRequirements().GetResources() {
					asked++
					req.RequiredResources = map[string]*fnv1.Resources{}
					for key, manifests := range s.required {
						if key == missing {
							continue
						}
						req.RequiredResources[key] = &fnv1.Resources{}
						for _, m := range manifests {
							req.RequiredResources[key].Items = append(req.RequiredResources[key].Items, object(t, m))
						}
					}
					rsp, err := router.New(compose.Config{Image: "koldun", Trusted: true}).RunFunction(t.Context(), req)
					if err != nil {
						t.Fatal(err)
					}
					if len(rsp.GetResults()) > 0 {
						t.Fatalf("%s is not composed: %v", kind, rsp.GetResults())
					}
					for _, name := range slices.Sorted(maps.Keys(known.GetDesired().GetResources())) {
						if rsp.GetDesired().GetResources()[name] == nil {
							t.Errorf("%s %v: %q goes while %q is not known", kind, composite["spec"], name, missing)
						}
					}
				}
			}
		}
	}
	if asked < 10 {
		t.Errorf("only %d requirements are tried", asked)
	}
}
