package compose

import (
	"fmt"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"
	"google.golang.org/protobuf/types/known/durationpb"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/reason"
)

// answer is what the call answers: desired resources, conditions, and when to call again.
type answer struct{ rsp *fnv1.RunFunctionResponse }

// Within has Crossplane call again after at most this time, also if nothing changes
// that it watches.
func (a answer) Within(d time.Duration) {
	if a.rsp.GetMeta() == nil {
		a.rsp.Meta = &fnv1.ResponseMeta{}
	}
	if ttl := a.rsp.GetMeta().GetTtl(); ttl == nil || ttl.AsDuration() > d {
		a.rsp.Meta.Ttl = durationpb.New(d)
	}
}

// True sets a condition to true on the composite and its claim.
func (a answer) True(condition string, r reason.Reason, format string, args ...any) {
	response.ConditionTrue(a.rsp, condition, string(r)).WithMessage(fmt.Sprintf(format, args...)).TargetCompositeAndClaim()
}

// False sets a condition to false on the composite and its claim.
func (a answer) False(condition string, r reason.Reason, format string, args ...any) {
	response.ConditionFalse(a.rsp, condition, string(r)).WithMessage(fmt.Sprintf(format, args...)).TargetCompositeAndClaim()
}

// Desired reports whether the resource of that name is desired.
func (a answer) Desired(name string) bool {
	_, ok := a.rsp.GetDesired().GetResources()[name]
	return ok
}

// WillBeReady reports whether the desired resource of that name is ready.
func (a answer) WillBeReady(name string) bool {
	return a.rsp.GetDesired().GetResources()[name].GetReady() == fnv1.Ready_READY_TRUE
}

// readiness is true if the composite serves and all that it composes is ready.
// Without it, Crossplane would write a message that changes with every composed
// resource.
func (a answer) readiness() fnv1.Ready {
	ready := fnv1.Ready_READY_FALSE
	for _, cond := range a.rsp.GetConditions() {
		if cond.GetType() == v1.ConditionServing && cond.GetStatus() == fnv1.Status_STATUS_CONDITION_TRUE {
			ready = fnv1.Ready_READY_TRUE
		}
	}
	for _, r := range a.rsp.GetDesired().GetResources() {
		if r.GetReady() != fnv1.Ready_READY_TRUE {
			ready = fnv1.Ready_READY_FALSE
		}
	}
	return ready
}
