package aideployment

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/names"
)

// name of the Deployment, Service and Ingress: the AIDeployment's own, if it is a
// DNS label.
func name(d *v1.AIDeployment) string { return names.Join(names.MaxLabel, d.Name) }

// component is the name of another composed object.
func component(d *v1.AIDeployment, suffix string) string {
	return names.Join(names.MaxLabel, d.Name, suffix)
}

// labels of all composed objects.
func labels(d *v1.AIDeployment) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":       "koldun",
		"app.kubernetes.io/managed-by": "koldun",
		"app.kubernetes.io/component":  "engine",
		"app.kubernetes.io/instance":   name(d),
	}
}

// selector selects the pods. It never changes, so that a change of labels takes no
// pod out of the Service.
func selector(d *v1.AIDeployment) map[string]string {
	return map[string]string{v1.LabelAIDeployment: name(d)}
}

func object(kind, apiVersion string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}
}

func annotations(d *v1.AIDeployment, given map[string]string) map[string]string {
	return with(given, map[string]string{v1.LabelPremDeployment: name(d)})
}

// with returns a map with the entries of both; the second wins.
func with(a, b map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
