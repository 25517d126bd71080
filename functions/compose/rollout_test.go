package compose_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
)

func workload(kind, image string) any {
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}}}
	meta := metav1.ObjectMeta{Name: "x", Annotations: map[string]string{"a": "b"}}
	if kind == "Deployment" {
		return &appsv1.Deployment{TypeMeta: metav1.TypeMeta{Kind: kind}, ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Template: template}}
	}
	return &appsv1.StatefulSet{TypeMeta: metav1.TypeMeta{Kind: kind}, ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Template: template}}
}

// hashOf returns the hash of the template of a workload as it is desired.
func hashOf(t *testing.T, obj any) string {
	t.Helper()
	p, rsp := call(t, "metadata: {name: a, namespace: ns}", nil)
	if err := p.Desire("w", obj, compose.NotReady); err != nil {
		t.Fatal(err)
	}
	annotations := rsp.GetDesired().GetResources()["w"].GetResource().GetFields()["metadata"].GetStructValue().GetFields()["annotations"].GetStructValue().GetFields()
	if annotations["a"].GetStringValue() != "b" {
		t.Errorf("the annotations are %v, and lack those of before", annotations)
	}
	return annotations[v1.AnnotationTemplate].GetStringValue()
}

// The hash changes with the template, whose change rolls the pods, and with nothing else.
func TestHashOfTemplates(t *testing.T) {
	replicas := int32(3)
	for _, kind := range []string{"Deployment", "StatefulSet"} {
		before := hashOf(t, workload(kind, "old"))
		scaled := workload(kind, "old")
		switch w := scaled.(type) {
		case *appsv1.Deployment:
			w.Spec.Replicas, w.Labels = &replicas, map[string]string{"a": "b"}
		case *appsv1.StatefulSet:
			w.Spec.Replicas, w.Labels = &replicas, map[string]string{"a": "b"}
		}
		if after := hashOf(t, scaled); after != before {
			t.Errorf("%s: the hash changes from %s to %s with replicas and labels", kind, before, after)
		}
		if after := hashOf(t, workload(kind, "new")); after == before {
			t.Errorf("%s: the hash stays %s with another image", kind, before)
		}
	}
}

// A workload is ready when all its pods are those of the desired template.
func TestRollout(t *testing.T) {
	for name, c := range map[string]struct {
		kind   string
		image  string // of what is observed; empty: an earlier version composed it
		status string
		ready  bool
	}{
		"Done":             {"StatefulSet", "new", "observedGeneration: 2, replicas: 1, readyReplicas: 1, updatedReplicas: 1, currentRevision: b, updateRevision: b", true},
		"NotApplied":       {"StatefulSet", "old", "observedGeneration: 2, replicas: 1, readyReplicas: 1, updatedReplicas: 1, currentRevision: a, updateRevision: a", false},
		"NotObserved":      {"StatefulSet", "new", "observedGeneration: 1, replicas: 1, readyReplicas: 1, updatedReplicas: 1, currentRevision: a, updateRevision: a", false},
		"NotRolled":        {"StatefulSet", "new", "observedGeneration: 2, replicas: 1, readyReplicas: 1, currentRevision: a, updateRevision: b", false},
		"HalfRolled":       {"StatefulSet", "new", "observedGeneration: 2, replicas: 2, readyReplicas: 2, updatedReplicas: 1, currentRevision: a, updateRevision: b", false},
		"Rolled":           {"StatefulSet", "new", "observedGeneration: 2, replicas: 2, readyReplicas: 2, updatedReplicas: 2, currentRevision: a, updateRevision: b", true},
		"ScaledUp":         {"StatefulSet", "new", "observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: b, updateRevision: b", true},
		"EarlierVersion":   {"StatefulSet", "", "observedGeneration: 2, replicas: 1, readyReplicas: 1, currentRevision: a, updateRevision: a", true},
		"Deployment":       {"Deployment", "new", "observedGeneration: 2, replicas: 2, readyReplicas: 2, updatedReplicas: 2", true},
		"DeploymentSurges": {"Deployment", "new", "observedGeneration: 2, replicas: 3, readyReplicas: 2, updatedReplicas: 1", false},
		"DeploymentOld":    {"Deployment", "old", "observedGeneration: 2, replicas: 2, readyReplicas: 2, updatedReplicas: 2", false},
	} {
		t.Run(name, func(t *testing.T) {
			annotations := "{}"
			if c.image != "" {
				annotations = fmt.Sprintf("{%s: %s}", v1.AnnotationTemplate, hashOf(t, workload(c.kind, c.image)))
			}
			p, _ := call(t, "metadata: {name: a, namespace: ns}", map[string]string{
				"w": "metadata: {generation: 2, annotations: " + annotations + "}\nstatus: {" + c.status + "}",
			})
			if err := p.Desire("w", workload(c.kind, "new"), compose.Ready); err != nil {
				t.Fatal(err)
			}
			if p.WillBeReady("w") != c.ready {
				t.Errorf("it is ready: %v, want %v", !c.ready, c.ready)
			}
		})
	}
}

func TestOtherKindsHaveNoTemplate(t *testing.T) {
	p, rsp := call(t, "metadata: {name: a, namespace: ns}", nil)
	if err := p.Desire("s", &corev1.Secret{TypeMeta: metav1.TypeMeta{Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Name: "s"}}, compose.Ready); err != nil {
		t.Fatal(err)
	}
	if meta := rsp.GetDesired().GetResources()["s"].GetResource().GetFields()["metadata"].GetStructValue(); meta.GetFields()["annotations"] != nil || !p.WillBeReady("s") || p.WillBeReady("absent") {
		t.Errorf("the Secret is desired with %v", meta)
	}
}
