package dllama

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/reason"
)

// requestAboveLimit says which request is above its limit: the API server refuses such pods.
func requestAboveLimit(r v1.Runtime) (problem string) {
	for _, f := range []struct {
		name    string
		claimed *corev1.ResourceRequirements
	}{{"spec.rootResources", r.RootResources}, {"spec.workerResources", r.WorkerResources}} {
		if f.claimed == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(f.claimed.Requests)) {
			request := f.claimed.Requests[name]
			if limit, limited := f.claimed.Limits[name]; limited && request.Cmp(limit) > 0 {
				return fmt.Sprintf("requests of %s: %s of %s is more than its limit, %s: lower it, or raise the limit", f.name, name, request.String(), limit.String())
			}
		}
	}
	return ""
}

// compareRequests reports memory that is requested and less than what a node allocates.
// It is no refusal: the claim may know that the nodes of the cluster have more.
func (d *dllama) compareRequests(plan nodePlan) {
	if plan.engine.Memory == nil || !plan.engine.Memory.Limit {
		return
	}
	var short []string
	compare := func(who, field string, claimed *corev1.ResourceRequirements, allocates int64) {
		if claimed == nil {
			return
		}
		if request, requested := claimed.Requests[corev1.ResourceMemory]; requested && request.Value() < allocates {
			need := mebibytes(allocates)
			short = append(short, fmt.Sprintf("requests.memory of %s is %s, and %s allocates %s", field, request.String(), who, need.String()))
		}
	}
	compare("the root", "spec.rootResources", d.Spec.RootResources, plan.rootMemory)
	compare("each worker", "spec.workerResources", d.Spec.WorkerResources, plan.workerMemory)
	switch {
	case len(short) > 0:
		d.False(v1.ConditionRequested, reason.RequestTooSmall,
			"%s: it may be scheduled to a node that has too little, which then ends it; request that much", strings.Join(short, "; "))
	case meta.FindStatusCondition(d.Status.Conditions, v1.ConditionRequested) != nil:
		d.True(v1.ConditionRequested, reason.RequestSufficient, "All nodes request the memory that they allocate")
	}
}
