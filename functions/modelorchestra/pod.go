package modelorchestra

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

const (
	defaultRepository = "tytn/takeoff-pro"
	defaultVersion    = "0.22.0-rc17"
	portInternal      = "internal"
)

// A part is the gateway or an application: pods of one Deployment, and the way to them.
type part struct {
	v1.OrchestraPod

	namespace, name string
	orchestra       string // name of the ModelOrchestra
	component       string // value of the label app.kubernetes.io/component
	label           string // value of the label app.kubernetes.io/name
	variant         string // of the default image: cpu or gpu
	internal        int32  // number of the default port internal
	config          string // content of the configuration file
	env             []corev1.EnvVar
	volumes         []corev1.Volume
	mounts          []corev1.VolumeMount
	pullSecrets     []corev1.LocalObjectReference
	account         string
	automount       bool
	exclusive       bool // one node at a time can mount the volume of the models
}

// selector has the labels that select the pods. They depend on names only, so that they
// never change, and no version or label of a user is among them.
func (w part) selector() map[string]string {
	return map[string]string{
		v1.Group + "/modelorchestra":  names.Join(names.MaxLabel, w.orchestra),
		"app.kubernetes.io/instance":  names.Join(names.MaxLabel, w.orchestra),
		"app.kubernetes.io/component": w.component,
	}
}

// labels of the objects. Versions are not among them: a new version of Koldun must not
// restart the pods of models.
func (w part) labels() map[string]string {
	return union(w.selector(), map[string]string{"app.kubernetes.io/name": w.label, "app.kubernetes.io/managed-by": "koldun"})
}

// ports of the pods, by default those of Takeoff.
func (w part) ports() []v1.OrchestraPort {
	if len(w.Ports) > 0 {
		return w.Ports
	}
	return []v1.OrchestraPort{
		{Name: "inference", ContainerPort: 3000}, {Name: "management", ContainerPort: 3001},
		{Name: "openai", ContainerPort: 3003}, {Name: portInternal, ContainerPort: w.internal},
	}
}

// port returns the number of a named port, or 0.
func (w part) port(name string) int32 {
	for _, p := range w.ports() {
		if p.Name == name {
			return p.ContainerPort
		}
	}
	return 0
}

// deployment of the pods. Without replicas a scaler owns their number.
func (w part) deployment(replicas *int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name, Labels: w.labels()},
		Spec: appsv1.DeploymentSpec{
			Replicas: replicas,
			Selector: &metav1.LabelSelector{MatchLabels: w.selector()},
			Strategy: w.strategy(),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      union(w.PodLabels, w.labels()),
					Annotations: union(w.PodAnnotations, map[string]string{checksumAnnotation: checksum(w.config)}),
				},
				Spec: w.podSpec(),
			},
		},
	}
}

func (w part) podSpec() corev1.PodSpec {
	spec := corev1.PodSpec{
		ServiceAccountName:           w.account,
		AutomountServiceAccountToken: ptr(w.automount),
		ImagePullSecrets:             w.pullSecrets,
		SecurityContext:              w.PodSecurityContext,
		NodeSelector:                 w.NodeSelector,
		Tolerations:                  w.Tolerations,
		Affinity:                     w.Affinity,
		Containers:                   []corev1.Container{w.container()},
		Volumes:                      w.podVolumes(),
	}
	if spec.SecurityContext == nil {
		// The image chooses its user; the group may write to volumes.
		spec.SecurityContext = &corev1.PodSecurityContext{
			FSGroup:             ptr(int64(workload.User)),
			FSGroupChangePolicy: ptr(corev1.FSGroupChangeOnRootMismatch),
			SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}
	}
	return spec
}

func (w part) container() corev1.Container {
	image := w.Image
	out := corev1.Container{
		Name:            w.containerName(),
		Image:           cmp.Or(image.Repository, defaultRepository) + ":" + cmp.Or(image.Tag, defaultVersion+"-"+w.variant),
		ImagePullPolicy: cmp.Or(image.PullPolicy, corev1.PullIfNotPresent),
		Env:             w.variables(),
		EnvFrom:         workload.From(w.EnvFrom),
		Resources:       w.resources(),
		SecurityContext: w.SecurityContext,
		VolumeMounts:    append(w.ownMounts(), w.VolumeMounts...),
	}
	for _, p := range w.ports() {
		out.Ports = append(out.Ports, corev1.ContainerPort{Name: p.Name, ContainerPort: p.ContainerPort, Protocol: cmp.Or(p.Protocol, corev1.ProtocolTCP)})
	}
	if out.SecurityContext == nil {
		out.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: ptr(false)}
	}
	out.StartupProbe = w.probe(w.StartupProbe, 360)
	out.ReadinessProbe = w.probe(w.ReadinessProbe, 3)
	out.LivenessProbe = w.probe(w.LivenessProbe, 6)
	return out
}

func (w part) containerName() string {
	if w.component == gateway {
		return gateway
	}
	return "reader"
}

// variables are Koldun's and the user's, who wins: also with an empty value.
func (w part) variables() []corev1.EnvVar {
	out := slices.DeleteFunc(slices.Clone(w.env), func(v corev1.EnvVar) bool {
		return slices.ContainsFunc(w.Env, func(u corev1.EnvVar) bool { return u.Name == v.Name })
	})
	return append(out, w.Env...)
}

func (w part) resources() corev1.ResourceRequirements {
	var out corev1.ResourceRequirements
	if w.Resources != nil {
		out = *w.Resources.DeepCopy()
	}
	return out
}

// object is one of a kind whose Go types are not ours.
func (w part) object(apiVersion, kind, name string, annotations map[string]string, spec map[string]any) *unstructured.Unstructured {
	meta := map[string]any{"namespace": w.namespace, "name": name, "labels": workload.AnyMap(w.labels())}
	if len(annotations) > 0 {
		meta["annotations"] = workload.AnyMap(annotations)
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": meta, "spec": spec}}
}
