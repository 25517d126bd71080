package workload

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/gorizond/koldun/internal/names"
)

// A Login is a NATS credentials file in a Secret, by which a container logs in. It is a
// file, because a renewed one then reaches the container without a restart. The zero
// Login is none.
type Login struct{ Secret, Key string }

const (
	loginFolder = "/run/koldun/nats"
	loginFile   = "user.creds"
	loginVolume = "nats-"
)

func (l Login) volume(container string) corev1.Volume {
	return corev1.Volume{Name: loginVolume + container, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: l.Secret, Items: []corev1.KeyToPath{{Key: l.Key, Path: loginFile}}, DefaultMode: new(int32(0o440)),
	}}}
}

// logins returns the volumes with the credentials of the pod's containers. Each is for
// one container only.
func (p Pod) logins() []corev1.Volume {
	var out []corev1.Volume
	for _, c := range slices.Concat(p.Init, p.Containers) {
		if c.Login != (Login{}) {
			out = append(out, c.Login.volume(c.Name))
		}
	}
	return out
}

// mount adds the credentials of a container.
func (l Login) mount(out *corev1.Container) {
	if l == (Login{}) {
		return
	}
	volume := loginVolume + out.Name
	out.Env = Override(out.Env, []corev1.EnvVar{
		{Name: names.DirEnv(volume), Value: loginFolder}, {Name: names.EnvNATSCreds, Value: names.DirRef(volume) + "/" + loginFile},
	})
	out.VolumeMounts = append(out.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: loginFolder, ReadOnly: true})
}
