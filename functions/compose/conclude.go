package compose

import (
	"reflect"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/reason"
)

// conclude says whether the composite is ready: what it is for works, and so
// does all that it composes. Said here, Crossplane does not say it, with a
// message that changes with every composed resource.
func (c *Call) conclude() {
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
	c.rsp.Desired.Composite.Ready = ready
}

const observedGeneration = "observedGeneration"

// settleGeneration corrects the generation that a status is of. Each refers to
// what would otherwise be one more event for the composite and for everything
// above it:
//
//   - Crossplane writes references to what is composed into the composite's
//     spec before it writes the status, which makes another generation. A status
//     that waits for nothing more is told at once, of the generation to come;
//     see statusBefore for others.
//   - While things get along, a generation alone is not worth a write: the one
//     before stands until something else is to be told, or there is a result.
//   - A claim's generation is not its composite's, so there is none to tell.
func (c *Call) settleGeneration(status *structpb.Struct) {
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

// same reports whether a status says what is said already, generation and
// conditions aside.
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

// settled reports whether waiting alone changes nothing more.
func (c *Call) settled() bool {
	for _, cond := range c.rsp.GetConditions() {
		if cond.GetType() == v1.ConditionServing {
			return cond.GetStatus() == fnv1.Status_STATUS_CONDITION_TRUE || reason.Final(cond.GetReason())
		}
	}
	return false
}

// statusBefore is the composite with the status that it has. Crossplane asks
// once more when the references to what is composed have changed, and then
// writes the status in any case: a change of ours that waits until then is no
// write of its own.
func (c *Call) statusBefore(status any) (*structpb.Struct, error) {
	composite := c.req.GetObserved().GetComposite().GetResource()
	before := reflect.New(reflect.TypeOf(status).Elem()).Interface() // Crossplane's own fields are not in it
	if err := decode(composite.GetFields()["status"].GetStructValue(), before); err != nil {
		return nil, err
	}
	return encodeStatus(composite, before)
}

// references are those that Crossplane keeps in the composite to what is
// composed. Nobody keeps them where there is no Crossplane.
func (c *Call) references() (refs []*structpb.Value, kept bool) {
	spec := c.req.GetObserved().GetComposite().GetResource().GetFields()["spec"].GetStructValue().GetFields()
	machinery, kept := spec["crossplane"]
	if kept {
		spec = machinery.GetStructValue().GetFields()
	} // a composite with a claim has no field of its own for them
	return spec["resourceRefs"].GetListValue().GetValues(), kept
}

// refersTo reports whether the references are to just what is desired.
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
