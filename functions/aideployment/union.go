package aideployment

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// takeWhole gives fields of which the API server accepts one member only those that a
// patch has. A merge by field leaves the members of both.
func takeWhole(into *corev1.PodTemplateSpec, patch corev1.PodTemplateSpec) {
	for _, v := range patch.Spec.Volumes {
		i := slices.IndexFunc(into.Spec.Volumes, func(o corev1.Volume) bool { return o.Name == v.Name })
		if i >= 0 && v.VolumeSource != (corev1.VolumeSource{}) {
			into.Spec.Volumes[i].VolumeSource = v.VolumeSource
		}
	}
	takeContainers(into.Spec.InitContainers, patch.Spec.InitContainers)
	takeContainers(into.Spec.Containers, patch.Spec.Containers)
}

func takeContainers(into, patch []corev1.Container) {
	for _, from := range patch {
		i := slices.IndexFunc(into, func(c corev1.Container) bool { return c.Name == from.Name })
		if i < 0 {
			continue
		}
		c := &into[i]
		for _, probe := range []struct{ into, from *corev1.Probe }{
			{c.StartupProbe, from.StartupProbe}, {c.ReadinessProbe, from.ReadinessProbe}, {c.LivenessProbe, from.LivenessProbe},
		} {
			if probe.from != nil && probe.from.ProbeHandler != (corev1.ProbeHandler{}) {
				probe.into.ProbeHandler = probe.from.ProbeHandler
			}
		}
		for _, e := range from.Env {
			if j := slices.IndexFunc(c.Env, func(o corev1.EnvVar) bool { return o.Name == e.Name }); j >= 0 {
				c.Env[j] = e
			}
		}
		if s := from.SecurityContext; s != nil && s.Privileged != nil && *s.Privileged && s.AllowPrivilegeEscalation == nil {
			c.SecurityContext.AllowPrivilegeEscalation = nil
		}
	}
}
