package compose

import (
	"fmt"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// Finish ends a call: it sets the composite's status, given as a pointer, and
// whether the composite is ready, by what is desired and the condition Serving.
// It comes last. While Crossplane has not looked for everything that was required, all
// that is composed stays: what is not known yet is not absent.
func (c *Call) Finish(status any) error {
	if c.unanswered {
		c.KeepRest()
	}
	c.around.report()
	if c.refused {
		status = c.keptStatus()
	}
	composite, err := c.newStatus(status)
	if err != nil {
		return fmt.Errorf("cannot encode status: %w", err)
	}
	c.rsp.Desired.Composite = &fnv1.Resource{Resource: composite, Ready: c.readiness()}
	return nil
}

// newStatus is the composite with this status, and with the version that was
// observed.
//
// Crossplane applies the status together with the conditions that it has read,
// and then updates the conditions. If its cache is older than its own last write,
// it takes that write back and repeats it. If the references to what is composed
// change, the status is of the composite before that. With the version, the API
// server refuses both as a conflict, for which Crossplane tries again without a
// write: each write is an event for the composite and for everything above it,
// and their number is limited.
func (o observed) newStatus(status any) (*structpb.Struct, error) {
	composite := o.state.GetComposite().GetResource()
	s, err := encodeStatus(composite, status)
	if err != nil {
		return nil, err
	}
	if o.ClusterScoped() { // a claim's generation is not its composite's
		delete(s.GetFields()["status"].GetStructValue().GetFields(), observedGeneration)
	}
	if version, ok := composite.GetFields()["metadata"].GetStructValue().GetFields()[resourceVersion]; ok {
		s.Fields["metadata"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{resourceVersion: version}})
	}
	return s, nil
}

// keptStatus is the observed status, which describes what exists, for the new generation.
func (o observed) keptStatus() map[string]any {
	composite := o.state.GetComposite().GetResource()
	out := composite.GetFields()["status"].GetStructValue().AsMap()
	if generation := composite.GetFields()["metadata"].GetStructValue().GetFields()["generation"].GetNumberValue(); generation > 0 {
		out[observedGeneration] = generation
	}
	return out
}

const (
	observedGeneration = "observedGeneration"
	resourceVersion    = "resourceVersion"
)
