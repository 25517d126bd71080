package compose

import (
	"fmt"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
)

// Finish ends a call: it sets the composite's status, given as a pointer, and
// whether the composite is ready, by what is desired and the condition Serving.
// It comes last. While Crossplane has not looked for everything that was required, all
// that is composed stays: what is not known yet is not absent.
func (c *Call) Finish(status any) error {
	if c.unanswered {
		c.KeepRest()
	}
	c.reportLacking()
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

// readiness is true if the composite serves and all that it composes is ready.
// Without it, Crossplane would write a message that changes with every composed
// resource.
func (c *Call) readiness() fnv1.Ready {
	ready := fnv1.Ready_READY_FALSE
	for _, cond := range c.rsp.GetConditions() {
		if cond.GetType() == v1.ConditionServing && cond.GetStatus() == fnv1.Status_STATUS_CONDITION_TRUE {
			ready = fnv1.Ready_READY_TRUE
		}
	}
	for _, r := range c.rsp.GetDesired().GetResources() {
		if r.GetReady() != fnv1.Ready_READY_TRUE {
			ready = fnv1.Ready_READY_FALSE
		}
	}
	return ready
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
func (c *Call) newStatus(status any) (*structpb.Struct, error) {
	composite := c.req.GetObserved().GetComposite().GetResource()
	s, err := encodeStatus(composite, status)
	if err != nil {
		return nil, err
	}
	if c.ClusterScoped() { // a claim's generation is not its composite's
		delete(s.GetFields()["status"].GetStructValue().GetFields(), observedGeneration)
	}
	if version, ok := composite.GetFields()["metadata"].GetStructValue().GetFields()[resourceVersion]; ok {
		s.Fields["metadata"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{resourceVersion: version}})
	}
	return s, nil
}

// keptStatus is the observed status, which describes what exists, for the new generation.
func (c *Call) keptStatus() map[string]any {
	composite := c.req.GetObserved().GetComposite().GetResource()
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
