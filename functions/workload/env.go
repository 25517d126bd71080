package workload

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/network/egress"
)

// Env is the environment that a claim gives to all containers of a pod.
type Env struct {
	Vars []corev1.EnvVar
	From []corev1.EnvFromSource
}

// EnvOf returns the environment of a claim.
func EnvOf(vars []v1.EnvVar, from []v1.EnvFromSource) Env {
	return Env{Vars: Vars(vars), From: From(from)}
}

// Ports are those of the URLs in the variables, such as of collectors and proxies.
func (e Env) Ports() []int32 {
	var out []int32
	for _, v := range e.Vars {
		out = append(out, egress.Mentioned(v.Value)...)
	}
	return out
}

// From returns the sources of a claim.
func From(from []v1.EnvFromSource) []corev1.EnvFromSource {
	var out []corev1.EnvFromSource
	for _, source := range from {
		s := corev1.EnvFromSource{Prefix: source.Prefix}
		if ref := source.SecretRef; ref != nil {
			s.SecretRef = &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}}
		}
		if ref := source.ConfigMapRef; ref != nil {
			s.ConfigMapRef = &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}}
		}
		out = append(out, s)
	}
	return out
}

// Vars returns the variables of a claim. Other sources of Kubernetes, such as fields
// of the pod, are not in the API.
func Vars(env []v1.EnvVar) []corev1.EnvVar {
	var out []corev1.EnvVar
	for _, e := range env {
		v := corev1.EnvVar{Name: e.Name, Value: e.Value}
		if from := e.ValueFrom; from != nil {
			v.ValueFrom = &corev1.EnvVarSource{}
			if ref := from.SecretKeyRef; ref != nil {
				v.ValueFrom.SecretKeyRef = &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Key: ref.Key}
			}
			if ref := from.ConfigMapKeyRef; ref != nil {
				v.ValueFrom.ConfigMapKeyRef = &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Key: ref.Key}
			}
		}
		out = append(out, v)
	}
	return out
}

// Override replaces variables by those of the same name, and appends the others:
// a list with two of one name cannot be applied.
func Override(env, vars []corev1.EnvVar) []corev1.EnvVar {
	for _, v := range vars {
		i := slices.IndexFunc(env, func(e corev1.EnvVar) bool { return e.Name == v.Name })
		if i >= 0 {
			env[i] = v
		} else {
			env = append(env, v)
		}
	}
	return env
}
