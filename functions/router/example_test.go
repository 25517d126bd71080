package router_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
)

// Compose a Model that nothing has been observed of yet.
func ExampleFunction_RunFunction() {
	composite, err := structpb.NewStruct(map[string]any{
		"apiVersion": "koldun.gorizond.io/v1",
		"kind":       "Model",
		"metadata":   map[string]any{"name": "tiny", "namespace": "default"},
		"spec":       map[string]any{"sourceUrl": "https://huggingface.co/gorizond/koldun-tiny"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	f := router.New(compose.Config{Image: "koldun", Trusted: true})
	rsp, err := f.RunFunction(context.Background(), &fnv1.RunFunctionRequest{
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: composite}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(rsp.GetDesired().GetResources())) {
		fmt.Println(name)
	}
	for _, c := range rsp.GetConditions() {
		fmt.Println(c.GetType(), c.GetReason())
	}
	// Output:
	// bucket-69e5c79f
	// queue
	// revision-d44e21e3
	// Serving ConnectionPending
}
