package workload

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/names"
)

// connected reports whether the container is Koldun's own and has connections, with the
// credentials of the platform.
func (c Container) connected() bool {
	return len(c.Secrets) > 0 || c.Login != (Login{}) || c.StoreKeys != (StoreKeys{})
}

// forConnected returns the environment for a container with connections. It has the variables
// that names.Claimable lists, and their values refer to no secret. Keys of Secrets and
// ConfigMaps are not known here, so they get names that mean nothing until the process takes
// them over.
func (e Env) forConnected() Env {
	var out Env
	for _, v := range e.Vars {
		if names.Claimable(v.Name) {
			v.Value = withoutSecrets(v.Value)
			out.Vars = append(out.Vars, v)
		}
	}
	for _, source := range e.From {
		source.Prefix = names.EnvClaim + source.Prefix
		out.From = append(out.From, source)
	}
	return out
}

// withoutSecrets returns a value in which Kubernetes expands no reference $(NAME) but those
// that names.Referable lists. As there, $$ stands for $.
func withoutSecrets(value string) string {
	var out strings.Builder
	for value != "" {
		name, _, closed := strings.Cut(strings.TrimPrefix(value, "$("), ")")
		switch {
		case strings.HasPrefix(value, "$$"):
			out.WriteString("$$")
			value = value[2:]
		case strings.HasPrefix(value, "$(") && closed && !names.Referable(name):
			out.WriteString("$$(")
			value = value[2:] // the name may hold a reference
		default:
			out.WriteByte(value[0])
			value = value[1:]
		}
	}
	return out.String()
}

// Claimable returns the variables of a claim that containers with connections get.
func Claimable(env []v1.EnvVar) []v1.EnvVar {
	return slices.DeleteFunc(slices.Clone(env), func(v v1.EnvVar) bool { return !names.Claimable(v.Name) })
}

// Withheld lists the variables of a claim that containers with connections do not get, at
// the path of its field.
func Withheld(path string, env []v1.EnvVar) map[string]bool {
	out := map[string]bool{}
	for _, v := range env {
		out[path+"["+v.Name+"]"] = !names.Claimable(v.Name)
	}
	return out
}

// environment returns what a claim gives to the container.
func (p Pod) environment(c Container) (vars []corev1.EnvVar, from []corev1.EnvFromSource) {
	env := p.Env
	if c.connected() {
		env = env.forConnected()
	}
	return env.Vars, env.From
}
