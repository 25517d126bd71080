package modelorchestra

import (
	"fmt"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
)

// Names of the volumes that a part may have beside those of users.
const (
	volumeConfig = "config"
	volumeMemory = "dshm"
)

// ownMounts are Koldun's mounts. A mount of the user at the same path replaces one.
func (w part) ownMounts() []corev1.VolumeMount {
	out := append([]corev1.VolumeMount{{Name: volumeConfig, MountPath: configPath, SubPath: configKey, ReadOnly: true}}, w.mounts...)
	return slices.DeleteFunc(out, func(own corev1.VolumeMount) bool {
		return slices.ContainsFunc(w.VolumeMounts, func(m corev1.VolumeMount) bool { return path.Clean(m.MountPath) == own.MountPath })
	})
}

// ownVolumes are Koldun's volumes that are mounted: by Koldun, or by the user, who has no
// volume of that name.
func (w part) ownVolumes() []corev1.Volume {
	mounts := w.ownMounts()
	for _, m := range w.VolumeMounts {
		if !slices.ContainsFunc(w.Volumes, func(v v1.OrchestraVolume) bool { return v.Name == m.Name }) {
			mounts = append(mounts, m)
		}
	}
	out := append([]corev1.Volume{{Name: volumeConfig, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: w.name}},
	}}}, w.volumes...)
	return slices.DeleteFunc(out, func(v corev1.Volume) bool {
		return !slices.ContainsFunc(mounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name })
	})
}

func (w part) podVolumes() []corev1.Volume {
	out := w.ownVolumes()
	for _, v := range w.Volumes {
		out = append(out, corev1.Volume{Name: v.Name, VolumeSource: source(v.OrchestraVolumeSource)})
	}
	return out
}

// checkVolumes returns what is wrong with volumes and mounts.
func (w part) checkVolumes() error {
	taken, reserved := map[string]bool{}, map[string]bool{volumeConfig: true}
	for _, v := range w.volumes {
		if reserved[v.Name] {
			return fmt.Errorf("modelsVolume.name: the name %q is taken by a volume of Koldun: choose another", v.Name)
		}
		reserved[v.Name] = true
	}
	for _, v := range w.ownVolumes() {
		taken[v.Name] = true
	}
	for _, v := range w.Volumes {
		if taken[v.Name] {
			return fmt.Errorf("volumes: the name %q is taken by a volume of Koldun: choose another", v.Name)
		}
		taken[v.Name] = true
	}
	paths := map[string]bool{}
	for _, m := range w.VolumeMounts {
		if !taken[m.Name] {
			return fmt.Errorf("volumeMounts: there is no volume %q: add it to volumes", m.Name)
		}
		if at := path.Clean(m.MountPath); paths[at] {
			return fmt.Errorf("volumeMounts: several volumes are mounted at %q: mount one", at)
		}
		paths[path.Clean(m.MountPath)] = true
	}
	return nil
}

func source(v v1.OrchestraVolumeSource) corev1.VolumeSource {
	return corev1.VolumeSource{
		EmptyDir: v.EmptyDir, HostPath: v.HostPath, ConfigMap: v.ConfigMap, Secret: v.Secret, PersistentVolumeClaim: v.PersistentVolumeClaim, NFS: v.NFS,
	}
}
