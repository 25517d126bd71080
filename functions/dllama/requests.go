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

// checkRequests says which request is above its limit: the API server refuses such pods.
func (p *dllamaPlan) checkRequests() (problem string) {
	for _, f := range []struct {
		name    string
		claimed *corev1.ResourceRequirements
	}{{"spec.rootResources", p.Spec.RootResources}, {"spec.workerResources", p.Spec.WorkerResources}} {
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
func (p *dllamaPlan) compareRequests() {
	if p.engine.Memory == nil || !p.engine.Memory.Limit {
		return
	}
	var short []string
	compare := func(who, field string, claimed *corev1.ResourceRequirements, plan int64) {
		if claimed == nil {
			return
		}
		if request, requested := claimed.Requests[corev1.ResourceMemory]; requested && request.Value() < plan {
			need := mebibytes(plan)
			short = append(short, fmt.Sprintf("requests.memory of %s is %s, and %s allocates %s", field, request.String(), who, need.String()))
		}
	}
	compare("the root", "spec.rootResources", p.Spec.RootResources, p.status.RootMemoryBytes)
	compare("each worker", "spec.workerResources", p.Spec.WorkerResources, p.status.WorkerMemoryBytes)
	switch {
	case len(short) > 0:
		p.False(v1.ConditionRequested, reason.RequestTooSmall, "%s: it may be scheduled to a node that has too little, which then ends it; request that much", strings.Join(short, "; "))
	case meta.FindStatusCondition(p.Status.Conditions, v1.ConditionRequested) != nil:
		p.True(v1.ConditionRequested, reason.RequestSufficient, "All nodes request the memory that they allocate")
	}
}
