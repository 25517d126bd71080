package workload

import (
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/names"
)

// maxValue is the greatest length of a value in Koldun's own kinds.
const maxValue = 4096

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ClaimVars returns variables of Kubernetes for a composed object of Koldun's own kinds,
// or why that cannot have them.
func ClaimVars(vars []corev1.EnvVar) (out []v1.EnvVar, problem string) {
	for _, e := range vars {
		switch {
		case names.Own(e.Name):
			return nil, fmt.Sprintf("%s: names that begin with KOLDUN_ or POD_ are Koldun's own, but for KOLDUN_LOG_LEVEL and KOLDUN_LOG_FORMAT", e.Name)
		case !variableName.MatchString(e.Name):
			return nil, fmt.Sprintf("%s: a name has letters, digits and underscores only, and no digit first", e.Name)
		case len(e.Value) > maxValue:
			return nil, fmt.Sprintf("%s: the value is longer than %d bytes: put it into a ConfigMap, and give valueFrom", e.Name, maxValue)
		}
		v := v1.EnvVar{Name: e.Name, Value: e.Value}
		if from := e.ValueFrom; from != nil {
			v.ValueFrom = &v1.EnvVarSource{}
			switch {
			case from.SecretKeyRef != nil:
				v.ValueFrom.SecretKeyRef = &v1.SecretKeyReference{Name: from.SecretKeyRef.Name, Key: from.SecretKeyRef.Key}
			case from.ConfigMapKeyRef != nil:
				v.ValueFrom.ConfigMapKeyRef = &v1.ConfigMapKeyReference{Name: from.ConfigMapKeyRef.Name, Key: from.ConfigMapKeyRef.Key}
			default:
				return nil, fmt.Sprintf("%s: behind the gateway of Koldun values come from the claim, a Secret or a ConfigMap", e.Name)
			}
		}
		out = append(out, v)
	}
	return out, ""
}

// OptionalKeys lists the variables whose Secret or ConfigMap need not exist, which
// Koldun's own kinds do not have.
func OptionalKeys(vars []corev1.EnvVar) map[string]bool {
	out := map[string]bool{}
	for i, e := range vars {
		if from := e.ValueFrom; from != nil {
			path := fmt.Sprintf("env[%d].valueFrom.", i)
			out[path+"secretKeyRef.optional"] = from.SecretKeyRef != nil && from.SecretKeyRef.Optional != nil && *from.SecretKeyRef.Optional
			out[path+"configMapKeyRef.optional"] = from.ConfigMapKeyRef != nil && from.ConfigMapKeyRef.Optional != nil && *from.ConfigMapKeyRef.Optional
		}
	}
	return out
}
