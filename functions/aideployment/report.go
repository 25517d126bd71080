package aideployment

import (
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
func (p *plan) autoscaler() error {
	a := p.d.Spec.Autoscaling
	if a == nil {
		return nil
	}
	return p.Desire(resAutoscaler, &autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta:   object("HorizontalPodAutoscaler", "autoscaling/v2"),
		ObjectMeta: metav1.ObjectMeta{Namespace: p.d.Namespace, Name: name(p.d), Labels: labels(p.d)},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name(p.d)},
			MinReplicas:    a.MinReplicas, MaxReplicas: a.MaxReplicas, Metrics: a.Metrics, Behavior: a.Behavior,
		},
	}, compose.Ready)
}

// report sets the status by the Deployment, whatever it was before.
func (p *plan) report() error {
	var d appsv1.Deployment
	found := p.Observed(resDeployment, &d)
	p.countPods(d)
	problem, err := p.watch()
	if err != nil {
		return err
	}
	wanted := p.d.Spec.Deployment.Replicas
	switch {
	case wanted != nil && *wanted == 0:
		p.Serve(reason.Idle, "spec.deployment.replicas is 0")
	case p.ReadyPods(resDeployment) > 0:
		p.Serve(reason.Available, "%s serves %s", p.d.Spec.Engine.Name, modelNames(p.status.ResolvedModels))
	case problem.Reason != "":
		p.fail(problem.Reason, "%s", problem.Message)
	case found && trouble(d) != "":
		p.fail(reason.DeploymentFailed, "Deployment %q has no ready pod: %s", name(p.d), trouble(d))
	default:
		p.fail(reason.DeploymentStarting, "Deployment %q has no ready pod yet", name(p.d))
	}
	if !p.Failed() {
		p.status.Phase = phaseReady
	}
	return nil
}

// countPods sets the part of the status that scaling reads.
func (p *plan) countPods(d appsv1.Deployment) {
	p.status.Replicas, p.status.ReadyReplicas = d.Status.Replicas, d.Status.ReadyReplicas
	p.status.Selector = v1.LabelAIDeployment + "=" + name(p.d)
}

// watch watches the pods.
func (p *plan) watch() (managed.Problem, error) {
	return managed.Watch(p.Call, p.d.Namespace, names.Object(p.d.Name, "aideployment", "pods"), selector(p.d))
}

// trouble says why a Deployment gets no pods; empty while it may.
func trouble(d appsv1.Deployment) string {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue ||
			c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}

func modelNames(models []v1.AIResolvedModel) string {
	var out []string
	for _, m := range models {
		out = append(out, m.Name)
	}
	if len(out) == 0 {
		return "its models"
	}
	return strings.Join(out, ", ")
}
