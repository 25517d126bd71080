package compose

import (
	"fmt"
	"reflect"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/reason"
)

// Finish ends a call: it sets the composite's status, given as a pointer, and
// whether the composite is ready, by what is desired and the condition Serving.
// It comes last.
//
// The status may be the observed one again: see postponed.
func (c *Call) Finish(status any) error {
	send := c.newStatus
	if c.postponed() {
		send = c.observedStatus
	}
	composite, err := send(status)
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

// postponed reports whether a change of the status waits for the next call.
//
// Crossplane calls once more after it has written references to what is
// composed, and then writes the status in any case: a change that waits until
// then is no event of its own. What waiting alone does not change is sent at
// once.
func (c *Call) postponed() bool {
	refs, _ := c.references()
	return len(refs) > 0 && !c.refersTo(refs) && !c.settled()
}

// newStatus is the composite with this status.
func (c *Call) newStatus(status any) (*structpb.Struct, error) {
	s, err := encodeStatus(c.req.GetObserved().GetComposite().GetResource(), status)
	if err == nil {
		c.correctGeneration(s.GetFields()["status"].GetStructValue())
	}
	return s, err
}

// observedStatus is the composite with the status that it has, without
// Crossplane's own fields: those that the type of status lacks.
func (c *Call) observedStatus(status any) (*structpb.Struct, error) {
	composite := c.req.GetObserved().GetComposite().GetResource()
	before := reflect.New(reflect.TypeOf(status).Elem()).Interface()
	if err := decode(composite.GetFields()["status"].GetStructValue(), before); err != nil {
		return nil, err
	}
	return encodeStatus(composite, before)
}

const observedGeneration = "observedGeneration"

// correctGeneration corrects the generation that a status says it is of, so
// that no status is written for its generation alone: each write is an event
// for the composite and for everything above it.
//
//   - Crossplane writes references to what is composed into the composite's
//     spec before it writes the status, which makes another generation. A status
//     that is sent before names the generation to come.
//   - While waiting alone changes something, a generation that differs stays as
//     it was, until another field of the status changes too.
//   - A claim's generation is not its composite's, so there is none.
func (c *Call) correctGeneration(status *structpb.Struct) {
	generation := status.GetFields()[observedGeneration].GetNumberValue()
	if generation == 0 {
		return
	}
	delete(status.GetFields(), observedGeneration)
	if c.ClusterScoped() {
		return
	}
	composite := c.req.GetObserved().GetComposite().GetResource().GetFields()
	before := composite["status"].GetStructValue().GetFields()
	if !c.settled() && same(before, status.GetFields()) {
		if g := before[observedGeneration]; g != nil {
			status.Fields[observedGeneration] = g
		}
		return
	}
	status.Fields[observedGeneration] = structpb.NewNumberValue(generation)
	if refs, kept := c.references(); kept && !c.refersTo(refs) {
		status.Fields[observedGeneration] = structpb.NewNumberValue(generation + 1)
	}
}

// same reports whether two statuses are equal but for generation and
// conditions.
func same(before, now map[string]*structpb.Value) bool {
	for name, v := range now {
		if !proto.Equal(v, before[name]) {
			return false
		}
	}
	for name := range before {
		if _, stays := now[name]; !stays && name != observedGeneration && name != "conditions" {
			return false
		}
	}
	return true
}

// settled reports whether waiting alone changes nothing more: the composite
// serves, or a user has to fix something.
func (c *Call) settled() bool {
	for _, cond := range c.rsp.GetConditions() {
		if cond.GetType() == v1.ConditionServing {
			return cond.GetStatus() == fnv1.Status_STATUS_CONDITION_TRUE || reason.Final(cond.GetReason())
		}
	}
	return false
}

// references returns the references to what is composed that Crossplane keeps in
// the composite. kept is false for a claim's composite and without Crossplane.
func (c *Call) references() (refs []*structpb.Value, kept bool) {
	spec := c.req.GetObserved().GetComposite().GetResource().GetFields()["spec"].GetStructValue().GetFields()
	machinery, kept := spec["crossplane"]
	if kept {
		spec = machinery.GetStructValue().GetFields()
	} // the composite of a claim has them directly in its spec
	return spec["resourceRefs"].GetListValue().GetValues(), kept
}

// refersTo reports whether the references are to exactly what is desired.
func (c *Call) refersTo(refs []*structpb.Value) bool {
	type reference struct{ apiVersion, kind, name string }
	wanted := map[reference]bool{}
	for key, r := range c.rsp.GetDesired().GetResources() {
		fields := r.GetResource().GetFields()
		named := fields
		if o, ok := c.req.GetObserved().GetResources()[key]; ok {
			named = o.GetResource().GetFields() // what exists keeps its name
		}
		wanted[reference{
			fields["apiVersion"].GetStringValue(), fields["kind"].GetStringValue(),
			named["metadata"].GetStructValue().GetFields()["name"].GetStringValue(),
		}] = true
	}
	for _, v := range refs {
		fields := v.GetStructValue().GetFields()
		r := reference{fields["apiVersion"].GetStringValue(), fields["kind"].GetStringValue(), fields["name"].GetStringValue()}
		if !wanted[r] {
			return false
		}
		delete(wanted, r)
	}
	return len(wanted) == 0
}
