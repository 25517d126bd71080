package aideployment

import (
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
)

// keep composes what exists as it is: what serves goes on while the claim, or what
// it refers to, cannot be used.
func (p *plan) keep() error {
	deployment, service, config, dllama := &appsv1.Deployment{}, &corev1.Service{}, &corev1.ConfigMap{}, &v1.Dllama{}
	for _, o := range []struct {
		res string
		obj metav1.Object
	}{{resDeployment, deployment}, {resService, service}, {resConfig, config}, {resDllama, dllama}} {
		if !p.Observed(o.res, o.obj) {
			continue
		}
		bare(o.obj)
		if o.res == resDeployment && p.d.Spec.Autoscaling != nil {
			deployment.Spec.Replicas = nil // the autoscaler owns it
		}
		if err := p.Desire(o.res, o.obj, compose.Ready); err != nil {
			return err
		}
	}
	if !p.Exists(resDeployment) && !p.Exists(resDllama) {
		return nil
	}
	if len(service.Spec.Ports) > 0 {
		p.port = service.Spec.Ports[0].Port
	}
	if _, err := p.autoscaler(); err != nil {
		return err
	}
	_, err := p.endpoints()
	return err
}

// bare removes what the API server and controllers have written.
func bare(o metav1.Object) {
	annotations := maps.Clone(o.GetAnnotations())
	maps.DeleteFunc(annotations, func(key, _ string) bool { return strings.HasPrefix(key, "deployment.kubernetes.io/") })
	o.SetAnnotations(annotations)
	o.SetManagedFields(nil)
	o.SetOwnerReferences(nil)
	o.SetFinalizers(nil)
	o.SetResourceVersion("")
	o.SetUID("")
	o.SetGeneration(0)
	o.SetGenerateName("")
	o.SetCreationTimestamp(metav1.Time{})
}
