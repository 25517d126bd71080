package modelorchestra

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const resourceGPU = corev1.ResourceName("nvidia.com/gpu")

// device reports whether a resource is one of a device plugin: whole GPUs, parts of them
// and shared ones have different names.
func device(name corev1.ResourceName) bool {
	domain, _, prefixed := strings.Cut(string(name), "/")
	return prefixed && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io")
}

func hasDevices(r corev1.ResourceRequirements) bool {
	for _, list := range []corev1.ResourceList{r.Limits, r.Requests} {
		for name, n := range list {
			if device(name) && !n.IsZero() {
				return true
			}
		}
	}
	return false
}

// withGPUs returns resources with GPUs, unless they name devices. Requests of devices
// become limits, too, which Kubernetes demands.
func withGPUs(given *corev1.ResourceRequirements, gpus int32) *corev1.ResourceRequirements {
	out := &corev1.ResourceRequirements{}
	if given != nil {
		out = given.DeepCopy()
	}
	if out.Limits == nil {
		out.Limits = corev1.ResourceList{}
	}
	named := false
	for name := range out.Limits {
		named = named || device(name)
	}
	for name, n := range out.Requests {
		if !device(name) {
			continue
		}
		named = true
		if _, ok := out.Limits[name]; !ok {
			out.Limits[name] = n
		}
	}
	if !named {
		out.Limits[resourceGPU] = *resource.NewQuantity(int64(gpus), resource.DecimalSI)
	}
	return out
}

// strategy replaces pods one after the other if no node has a place for one more: often
// no device is free, and a volume that one node at a time can mount is with the old pod.
func (w part) strategy() appsv1.DeploymentStrategy {
	surge, unavailable := 1, 0
	if w.exclusive || hasDevices(w.resources()) {
		surge, unavailable = 0, 1
	}
	return appsv1.DeploymentStrategy{
		Type:          appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromInt(surge)), MaxUnavailable: new(intstr.FromInt(unavailable))},
	}
}
