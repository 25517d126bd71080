package compose

import (
	"slices"
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// KeepRest desires every composed resource that exists and is not desired yet as it is,
// except some. A composite whose new spec is refused goes on with what runs by the old
// one. Withdrawn resources are not kept.
func (c *Call) KeepRest(except ...string) {
	for name, r := range c.state.GetResources() {
		if _, desired := c.rsp.GetDesired().GetResources()[name]; desired || r.GetResource() == nil || c.withdrawn[name] || slices.Contains(except, name) {
			continue
		}
		c.rsp.Desired.Resources[name] = &fnv1.Resource{Resource: kept(r.GetResource()), Ready: fnv1.Ready_READY_TRUE}
	}
}

// kept is an observed object without its status, and without what the API server and
// Crossplane add to its metadata.
func kept(observed *structpb.Struct) *structpb.Struct {
	out := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for field, value := range observed.GetFields() {
		if field != "status" && field != "metadata" {
			out.Fields[field] = value
		}
	}
	meta := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for field, value := range observed.GetFields()["metadata"].GetStructValue().GetFields() {
		switch field {
		case "name", "namespace":
			meta.Fields[field] = value
		case "labels", "annotations":
			meta.Fields[field] = structpb.NewStructValue(ownKeys(value.GetStructValue()))
		}
	}
	out.Fields["metadata"] = structpb.NewStructValue(meta)
	return out
}

// ownKeys leaves out labels and annotations that Crossplane adds.
func ownKeys(all *structpb.Struct) *structpb.Struct {
	out := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for key, value := range all.GetFields() {
		if !strings.HasPrefix(key, "crossplane.io/") {
			out.Fields[key] = value
		}
	}
	return out
}
