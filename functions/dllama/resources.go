package dllama

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gorizond/koldun/functions/preflight"
)

// resources are those that the claim names. Where it names no memory, a node
// requests what it allocates by the plan, which is 0 if there is none, and what
// it needs while it loads.
func (p nodePlan) resources(claimed *corev1.ResourceRequirements, allocates int64) corev1.ResourceRequirements {
	var out corev1.ResourceRequirements
	if claimed != nil {
		out = *claimed.DeepCopy()
	}
	_, requested := out.Requests[corev1.ResourceMemory]
	_, limited := out.Limits[corev1.ResourceMemory]
	if allocates == 0 || requested || limited {
		return out
	}
	need := mebibytes(allocates + p.engine.Memory.Loading(preflight.Shape(*p.artifact.Shape), int(p.nodes)))
	if out.Requests == nil {
		out.Requests = corev1.ResourceList{}
	}
	out.Requests[corev1.ResourceMemory] = need
	if p.engine.Memory.Limit {
		if out.Limits == nil {
			out.Limits = corev1.ResourceList{}
		}
		out.Limits[corev1.ResourceMemory] = need
	}
	return out
}

// memoryLimit is the limit that the claim names; 0 if it names none.
func memoryLimit(claimed *corev1.ResourceRequirements) int64 {
	if claimed == nil {
		return 0
	}
	return claimed.Limits.Memory().Value()
}

// gpus counts the GPUs that the claim names, of any vendor: nvidia.com/gpu,
// amd.com/gpu, or gpu.intel.com/i915 and gpu.intel.com/xe. Other names of Intel's are
// parts of a GPU, such as its memory.
func gpus(claimed *corev1.ResourceRequirements) int64 {
	if claimed == nil {
		return 0
	}
	var n int64
	for name, quantity := range claimed.Limits {
		if domain, device, ok := strings.Cut(string(name), "/"); ok && (device == "gpu" || domain == "gpu.intel.com" && (device == "i915" || device == "xe")) {
			n += quantity.Value()
		}
	}
	return n
}

// mebibytes rounds bytes up, so that the quantity is short and canonical.
func mebibytes(bytes int64) resource.Quantity {
	return resource.MustParse(fmt.Sprintf("%dMi", (bytes+1<<20-1)>>20))
}

// netTurbo polls sockets without pause, which needs CPUs that no other process
// shares, on every node.
func (p nodePlan) netTurbo() bool {
	if t := p.Spec.Engine.NetTurbo; t != nil {
		return *t
	}
	return wholeCPUs(p.Spec.RootResources) && (p.nodes == 1 || wholeCPUs(p.Spec.WorkerResources))
}

// wholeCPUs reports whether whole CPUs are requested, and limited to the same.
func wholeCPUs(r *corev1.ResourceRequirements) bool {
	if r == nil {
		return false
	}
	limit := r.Limits.Cpu()
	request, ok := r.Requests[corev1.ResourceCPU]
	if !ok {
		request = *limit
	}
	return !limit.IsZero() && limit.MilliValue()%1000 == 0 && request.Cmp(*limit) == 0
}
