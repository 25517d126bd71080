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
// it refers to, cannot be used. port is the one of the engine, if it is known.
func (p *plan) keep(port int32) error {
	deployment, service, config, dllama := &appsv1.Deployment{}, &corev1.Service{}, &corev1.ConfigMap{}, &v1.Dllama{}
	for _, o := range []struct {
		res string
		obj metav1.Object
	}{{resDeployment, deployment}, {resService, service}, {resConfig, config}, {resDllama, dllama}} {
		if !p.Observed(o.res, o.obj) {
			continue
		}
		if o.res == resDeployment && p.d.Spec.Deployment.Replicas == nil {
			deployment.Spec.Replicas = unowned(p.d.Spec.Autoscaling, *deployment)
		}
		bare(o.obj)
		if err := p.Desire(o.res, o.obj, compose.Ready); err != nil {
			return err
		}
	}
	if p.Exists(resDllama) || p.Exists(resDeployment) {
		p.status.ResolvedModels = p.d.Status.ResolvedModels
	}
	if p.Exists(resDllama) {
		p.status.URL, p.status.Replicas = dllama.Status.URL, 1
		if p.Condition(resDllama, v1.ConditionServing).Status == metav1.ConditionTrue {
			p.status.ReadyReplicas = 1
		}
	}
	alone := p.Exists(resDeployment) || p.Exists(resService)
	if alone {
		if len(service.Spec.Ports) > 0 {
			port = service.Spec.Ports[0].Port
			p.serveOn(port)
		}
		if err := p.keepPods(*deployment); err != nil {
			return err
		}
	}
	to := backend{name(p.d), port}
	if p.keptQueued(alone) {
		to = gateway(p.d)
	}
	if to.port == 0 || !alone && !p.Exists(resDllama) {
		return nil // the domains have nowhere to lead to
	}
	return p.endpoints(to)
}

// keptQueued reports whether the queue is before the engine that exists, or else before the
// engine that the claim asks for.
func (p *plan) keptQueued(alone bool) bool {
	queued, exists := Queued(p.d.Spec), p.Exists(resDllama)
	if queued != exists && queued == alone {
		return exists
	}
	return queued
}

// keepPods keeps what belongs to a Deployment, and its part of the status. The Deployment
// itself may be missing for a moment.
func (p *plan) keepPods(d appsv1.Deployment) error {
	p.countPods(d)
	if _, err := p.watch(); err != nil {
		return err
	}
	return p.autoscaler()
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
