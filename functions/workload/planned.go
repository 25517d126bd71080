package workload

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// Planned describes the pods of a component to the provider, before they exist.
func (p Pod) Planned(component string, count int32) v1alpha1.PlannedPods {
	out := v1alpha1.PlannedPods{Component: component, Count: count, Requests: p.requests()}
	if s := p.Scheduling; s != nil {
		out.NodeSelector, out.Tolerations = s.NodeSelector, s.Tolerations
	}
	return out
}

// Selective reports whether pods need more than each node of a cluster can be expected to
// have: certain labels, devices, a gibibyte of memory or more than three cores.
func Selective(p v1alpha1.PlannedPods) bool {
	if len(p.NodeSelector) > 0 {
		return true
	}
	for name, request := range p.Requests {
		switch name {
		case corev1.ResourceMemory:
			if request.Value() >= 1<<30 {
				return true
			}
		case corev1.ResourceCPU:
			if request.Value() >= 4 {
				return true
			}
		case corev1.ResourceEphemeralStorage:
		default:
			return true
		}
	}
	return false
}

// requests adds up what the containers of the pod request, as the scheduler does: init
// containers end before the others start.
func (p Pod) requests() corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, c := range p.Containers {
		for name, request := range requestsOf(c.resources()) {
			sum := out[name]
			sum.Add(request)
			out[name] = sum
		}
	}
	for _, c := range p.Init {
		for name, request := range requestsOf(c.resources()) {
			if sum := out[name]; request.Cmp(sum) > 0 {
				out[name] = request
			}
		}
	}
	return out
}

// requestsOf returns the requests of a container. The API server sets a limit as the
// request where there is none.
func requestsOf(r corev1.ResourceRequirements) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, limit := range r.Limits {
		out[name] = limit
	}
	for name, request := range r.Requests {
		out[name] = request
	}
	return out
}
