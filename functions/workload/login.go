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

// StoreKeys are temporary credentials for an object store in a Secret, as a file for the
// same reason. The zero StoreKeys are none.
type StoreKeys struct{ Secret string }

// A credentialsFile is one key of a Secret as a file of one container.
type credentialsFile struct{ volume, secret, key, folder, name, variable string }

// credentials returns the credentials that the container has as files.
func (c Container) credentials() []credentialsFile {
	var out []credentialsFile
	if c.Login != (Login{}) {
		out = append(out, credentialsFile{"nats-" + c.Name, c.Login.Secret, c.Login.Key, "/run/koldun/nats", "user.creds", names.EnvNATSCreds})
	}
	if c.StoreKeys != (StoreKeys{}) {
		out = append(out, credentialsFile{"s3-" + c.Name, c.StoreKeys.Secret, names.EnvS3Credentials, "/run/koldun/s3", "credentials.json", names.EnvS3Credentials})
	}
	return out
}

// credentials returns the volumes with the credentials of the pod's containers. Each is
// for one container only.
func (p Pod) credentials() []corev1.Volume {
	var out []corev1.Volume
	for _, c := range slices.Concat(p.Init, p.Containers) {
		for _, f := range c.credentials() {
			out = append(out, corev1.Volume{Name: f.volume, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
				SecretName: f.secret, Items: []corev1.KeyToPath{{Key: f.key, Path: f.name}}, DefaultMode: new(int32(0o440)),
			}}})
		}
	}
	return out
}

// mount adds the file to its container.
func (f credentialsFile) mount(out *corev1.Container) {
	out.Env = Override(out.Env, []corev1.EnvVar{
		{Name: names.DirEnv(f.volume), Value: f.folder}, {Name: f.variable, Value: names.DirRef(f.volume) + "/" + f.name},
	})
	out.VolumeMounts = append(out.VolumeMounts, corev1.VolumeMount{Name: f.volume, MountPath: f.folder, ReadOnly: true})
}
