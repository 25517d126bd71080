package modelorchestra

import (
	"cmp"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
)

const (
	scalerHPA = "HorizontalPodAutoscaler"

	defaultMinimum = 1
	defaultMaximum = 4
)

func scaled(s v1.OrchestraScaling) bool { return enabled(s.Enabled) }

// minimum is the fewest replicas.
func minimum(s v1.OrchestraScaling) int32 {
	if n := s.Spec.IdleReplicaCount; n != nil {
		return *n
	}
	return or(s.Spec.MinReplicaCount, defaultMinimum)
}

// maximum is the most replicas. By default it does not contradict the fewest.
func maximum(s v1.OrchestraScalingSpec) int32 {
	return or(s.MaxReplicaCount, max(defaultMaximum, or(s.MinReplicaCount, defaultMinimum)))
}

// checkScaling returns what is wrong with limits that are merged or have defaults, which
// no schema can see.
func checkScaling(s v1.OrchestraScaling) string {
	least := or(s.Spec.MinReplicaCount, defaultMinimum)
	switch idle := s.Spec.IdleReplicaCount; {
	case !scaled(s):
	case maximum(s.Spec) < least:
		return fmt.Sprintf("scaling.spec.maxReplicaCount: %d is less than minReplicaCount, which is %d", maximum(s.Spec), least)
	case idle != nil && *idle >= least:
		return fmt.Sprintf("scaling.spec.idleReplicaCount: %d is not less than minReplicaCount, which is %d", *idle, least)
	}
	return ""
}

// unscaled returns the replicas of a scaled Deployment while no scaler has set them.
func (t takeoff) unscaled(name string) *int32 {
	var d appsv1.Deployment
	if !t.Observed(resDeployment+name, &d) {
		return nil
	}
	return workload.UnscaledReplicas(d)
}

// idle reports whether a scaled application has no replicas because it needs none now.
func (t takeoff) idle(a application) bool {
	var d appsv1.Deployment
	if a.Scaling.Type == scalerHPA || minimum(a.Scaling) > 0 || !t.Observed(resDeployment+a.name, &d) {
		return false
	}
	return d.Spec.Replicas != nil && *d.Spec.Replicas == 0
}

func or(given *int32, otherwise int32) int32 {
	if given != nil {
		return *given
	}
	return otherwise
}

// A scaler scales the Deployment of an application.
type scaler struct {
	of      part
	app     application
	gateway string // name of its Service
}

func (s scaler) object() any {
	if s.app.Scaling.Type == scalerHPA {
		return s.podAutoscaler()
	}
	return s.scaledObject()
}

// scaledObject scales by the requests that wait at the gateway.
func (s scaler) scaledObject() any {
	w, limits := s.of, s.app.Scaling.Spec
	spec := map[string]any{
		"scaleTargetRef":        map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": w.name},
		"pollingInterval":       int64(or(limits.PollingInterval, 60)),
		"initialCooldownPeriod": int64(or(limits.InitialCooldownPeriod, 300)),
		"cooldownPeriod":        int64(or(limits.CooldownPeriod, 300)),
		"minReplicaCount":       int64(or(limits.MinReplicaCount, defaultMinimum)),
		"maxReplicaCount":       int64(maximum(limits)),
		"triggers": []any{map[string]any{
			"type": "external-push",
			"metadata": map[string]any{
				"scalerAddress": fmt.Sprintf("%s.%s.svc.cluster.local:%d", s.gateway, w.namespace, w.internal),
				"target_" + cmp.Or(s.app.ReaderConfig.ConsumerGroup, defaultGroup): fmt.Sprint(or(s.app.Scaling.MetricTarget.Value, 10)),
			},
		}},
	}
	if limits.IdleReplicaCount != nil {
		spec["idleReplicaCount"] = int64(*limits.IdleReplicaCount)
	}
	if f := limits.Fallback; f != nil {
		spec["fallback"] = map[string]any{"failureThreshold": int64(f.FailureThreshold), "replicas": int64(f.Replicas)}
	}
	if limits.Advanced != nil {
		// Numbers and strings only, so that it cannot fail.
		if advanced, err := runtime.DefaultUnstructuredConverter.ToUnstructured(limits.Advanced); err == nil {
			spec["advanced"] = advanced
		}
	}
	return w.object("keda.sh/v1alpha1", "ScaledObject", w.name, s.app.Scaling.Annotations, spec)
}

// podAutoscaler scales by the use of CPU. It cannot scale to zero.
func (s scaler) podAutoscaler() *autoscalingv2.HorizontalPodAutoscaler {
	w, given := s.of, s.app.Scaling
	out := &autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v2", Kind: scalerHPA},
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name, Labels: w.labels(), Annotations: given.Annotations},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: w.name},
			MinReplicas:    ptr(max(or(given.Spec.MinReplicaCount, defaultMinimum), 1)),
			MaxReplicas:    maximum(given.Spec),
			Metrics: []autoscalingv2.MetricSpec{{
				Type: autoscalingv2.ResourceMetricSourceType,
				Resource: &autoscalingv2.ResourceMetricSource{
					Name:   corev1.ResourceCPU,
					Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: ptr(or(given.CPUUtilization, 80))},
				},
			}},
		},
	}
	if a := given.Spec.Advanced; a != nil && a.HorizontalPodAutoscalerConfig != nil {
		out.Spec.Behavior = a.HorizontalPodAutoscalerConfig.Behavior
	}
	return out
}
