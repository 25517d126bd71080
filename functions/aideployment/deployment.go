package aideployment

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/fault"
)

// graceSeconds is how long a server may finish what it computes.
const graceSeconds = 60

// beforeStartSeconds is how long new pods may take until the startup probe begins.
const beforeStartSeconds = 600

// deployment composes the Deployment and what its pods read.
func (a *alone) deployment() (compose.Next, error) {
	template, err := a.template()
	switch {
	case fault.Is(err, fault.Invalid):
		return a.refuse("%v", err)
	case err != nil:
		return compose.Stop, err
	}
	if len(a.started.Files) > 0 {
		config := &corev1.ConfigMap{
			TypeMeta:   object("ConfigMap", "v1"),
			ObjectMeta: metav1.ObjectMeta{Namespace: a.d.Namespace, Name: component(a.d, "config"), Labels: labels(a.d)},
			Data:       a.started.Files,
		}
		if err := a.Desire(resConfig, config, compose.Ready); err != nil {
			return compose.Stop, err
		}
	}
	d := a.d.Spec.Deployment
	out := workload.Deployment(a.d.Namespace, name(a.d), 1, workload.Pod{Labels: selector(a.d)})
	out.Labels = labels(a.d)
	out.Spec.Template = template
	out.Spec.ProgressDeadlineSeconds = ptr(deadline(*container(&template)))
	var seen appsv1.Deployment
	a.Observed(resDeployment, &seen)
	out.Spec.Replicas = unowned(a.d.Spec.Autoscaling, seen)
	if a.d.Spec.Autoscaling == nil && d.Replicas != nil {
		out.Spec.Replicas = d.Replicas
	}
	if d.Strategy != nil {
		out.Spec.Strategy = *d.Strategy
	}
	serves := a.ReadyPods(resDeployment) > 0 || d.Replicas != nil && *d.Replicas == 0
	return compose.Continue, a.Desire(resDeployment, out, compose.Readiness(serves))
}

// deadline is how long new pods may take to become ready: the startup probe, and what
// comes before it.
func deadline(c corev1.Container) int32 {
	p := c.StartupProbe
	if p == nil {
		return beforeStartSeconds + startupSeconds
	}
	return beforeStartSeconds + p.InitialDelaySeconds + max(p.PeriodSeconds, 1)*max(p.FailureThreshold, 1)
}

func ptr[T any](v T) *T { return &v }
