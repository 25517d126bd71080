package aideployment

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
)

const (
	cuda = "CUDA"
	// noRuntime is the runtime class that stands for the cluster's default.
	noRuntime = "none"
	// labelMajor and labelMinor are set by GPU feature discovery.
	labelMajor = "nvidia.com/gpu.compute.major"
	labelMinor = "nvidia.com/gpu.compute.minor"
)

// device is the resource of the accelerator's GPUs; empty without an accelerator.
func device(a *v1.AIAccelerator) corev1.ResourceName {
	switch {
	case a == nil:
		return ""
	case a.Interface == cuda:
		return "nvidia.com/gpu"
	}
	return "amd.com/gpu"
}

// gpus is the number of GPUs of a pod: as the template says, which is merged over the
// rest, or the resources, else 1 with an accelerator.
func (e engineSpec) gpus() int64 {
	device := device(e.d.Spec.Deployment.Accelerator)
	if device == "" {
		return 0
	}
	given := []corev1.ResourceRequirements{e.templated()}
	if r := e.d.Spec.Deployment.Resources; r != nil {
		given = append(given, *r)
	}
	for _, r := range given {
		for _, list := range []corev1.ResourceList{r.Limits, r.Requests} {
			if n, ok := list[device]; ok {
				return n.Value()
			}
		}
	}
	return 1
}

// templated are the resources of the engine's container in the claim's template.
func (e engineSpec) templated() corev1.ResourceRequirements {
	patch, err := e.patch() // an error is reported with the template
	for _, c := range patch.Spec.Containers {
		if err == nil && c.Name == serving {
			return c.Resources
		}
	}
	return corev1.ResourceRequirements{}
}

// resources are what the claim asks for, with the GPUs.
func (e engineSpec) resources() *corev1.ResourceRequirements {
	r := e.d.Spec.Deployment.Resources
	device := device(e.d.Spec.Deployment.Accelerator)
	if device == "" {
		return r
	}
	out := &corev1.ResourceRequirements{}
	if r != nil {
		out = r.DeepCopy()
	}
	addGPUs(out, device, e.gpus())
	return out
}

// accelerate asks for the GPUs, and for nodes that have them.
func (e engineSpec) accelerate(spec *corev1.PodSpec, c *corev1.Container) {
	d := e.d.Spec.Deployment
	if device := device(d.Accelerator); device != "" {
		addGPUs(&c.Resources, device, e.gpus())
	}
	class := runtimeClass(d.RuntimeClassName)
	if d.RuntimeClassName == "" && d.Accelerator != nil && d.Accelerator.Interface == cuda {
		class = "nvidia"
	}
	if d.RuntimeClassName != "" || spec.RuntimeClassName == nil {
		spec.RuntimeClassName = nil
		if class != "" {
			spec.RuntimeClassName = &class
		}
	}
	spec.Affinity = capable(spec.Affinity, d.Accelerator)
}

// runtimeClass is a class that the claim gives; empty is the cluster's default.
func runtimeClass(class string) string {
	if class != noRuntime {
		return class
	}
	return ""
}

func addGPUs(r *corev1.ResourceRequirements, device corev1.ResourceName, n int64) {
	count := *resource.NewQuantity(n, resource.DecimalSI)
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	if r.Limits == nil {
		r.Limits = corev1.ResourceList{}
	}
	r.Requests[device], r.Limits[device] = count, count
}

// capable requires nodes whose GPUs have the least compute capability, besides what
// the affinity requires.
func capable(a *corev1.Affinity, accelerator *v1.AIAccelerator) *corev1.Affinity {
	if accelerator == nil || accelerator.MinVersion == nil {
		return a
	}
	out := &corev1.Affinity{}
	if a != nil {
		out = a.DeepCopy()
	}
	if out.NodeAffinity == nil {
		out.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := out.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil || len(required.NodeSelectorTerms) == 0 {
		required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	var terms []corev1.NodeSelectorTerm // one of them has to fit
	for _, term := range required.NodeSelectorTerms {
		for _, more := range atLeast(*accelerator.MinVersion) {
			both := *term.DeepCopy()
			both.MatchExpressions = append(both.MatchExpressions, more...)
			terms = append(terms, both)
		}
	}
	out.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
	return out
}

// atLeast returns the alternatives: a larger major version, or the same and at least
// the minor version.
func atLeast(v v1.AIAcceleratorVersion) [][]corev1.NodeSelectorRequirement {
	above := func(label string, n int32) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: label, Operator: corev1.NodeSelectorOpGt, Values: []string{strconv.Itoa(int(n))}}
	}
	if v.Minor == 0 {
		return [][]corev1.NodeSelectorRequirement{{above(labelMajor, v.Major-1)}}
	}
	same := corev1.NodeSelectorRequirement{Key: labelMajor, Operator: corev1.NodeSelectorOpIn, Values: []string{strconv.Itoa(int(v.Major))}}
	return [][]corev1.NodeSelectorRequirement{{above(labelMajor, v.Major)}, {same, above(labelMinor, v.Minor-1)}}
}
