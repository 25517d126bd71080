package aideployment

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// autoscaler composes the HorizontalPodAutoscaler.
func (p *plan) autoscaler() (compose.Next, error) {
	a := p.d.Spec.Autoscaling
	if a == nil {
		return compose.Continue, nil
	}
	return compose.Continue, p.Desire(resAutoscaler, &autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta:   object("HorizontalPodAutoscaler", "autoscaling/v2"),
		ObjectMeta: metav1.ObjectMeta{Namespace: p.d.Namespace, Name: p.name(), Labels: p.labels()},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: p.name()},
			MinReplicas:    a.MinReplicas, MaxReplicas: a.MaxReplicas, Metrics: a.Metrics, Behavior: a.Behavior,
		},
	}, compose.Ready)
}

// report sets the status by that of the Deployment, whatever it was before.
func (p *plan) report() (compose.Next, error) {
	d, found := p.observed()
	p.countPods(d)
	problem, err := p.watch()
	if err != nil {
		return compose.Stop, err
	}
	wanted := p.d.Spec.Deployment.Replicas
	switch {
	case wanted != nil && *wanted == 0:
		p.Serve(reason.Idle, "spec.deployment.replicas is 0")
	case p.ReadyPods(resDeployment) > 0:
		p.Serve(reason.Available, "%s serves %s", p.d.Spec.Engine.Name, p.names())
	case problem.Reason != "":
		p.fail(problem.Reason, "%s", problem.Message)
	case found && trouble(d) != "":
		p.fail(reason.DeploymentFailed, "Deployment %q has no ready pod: %s", p.name(), trouble(d))
	default:
		p.fail(reason.DeploymentStarting, "Deployment %q has no ready pod yet", p.name())
	}
	if !p.Failed() {
		p.status.Phase = phaseReady
	}
	return compose.Continue, nil
}

// countPods sets the part of the status that scaling reads.
func (p *plan) countPods(d appsv1.Deployment) {
	p.status.Replicas, p.status.ReadyReplicas = d.Status.Replicas, d.Status.ReadyReplicas
	p.status.Selector = v1.LabelAIDeployment + "=" + p.name()
}

// watch watches the pods.
func (p *plan) watch() (managed.Problem, error) {
	return managed.Watch(p.Call, p.d.Namespace, names.Object(p.d.Name, "aideployment", "pods"), p.selector())
}

// trouble says why a Deployment gets no pods; empty while it may.
func trouble(d appsv1.Deployment) string {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue || c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}

func (p *plan) names() string {
	var out []string
	for _, m := range p.status.ResolvedModels {
		out = append(out, m.Name)
	}
	if len(out) == 0 {
		return "its models"
	}
	return strings.Join(out, ", ")
}

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }
