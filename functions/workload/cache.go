package workload

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
)

// CacheSource returns the volume of a claim's cache; nil for an empty folder.
func CacheSource(c *v1.ServerCache) *corev1.VolumeSource {
	switch {
	case c == nil:
		return nil
	case c.ClaimName != "":
		return &corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.ClaimName}}
	}
	return &corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: c.SizeLimit}}
}
