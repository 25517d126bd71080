package managed

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
)

// resPods is the name of the composed resource that watches pods.
const resPods = "pods"

// A Problem keeps pods from running. Its zero value means that none is known.
type Problem struct {
	Reason  reason.Reason
	Message string
	Pod     string // empty if it could not be created
}

// Watch composes a WorkloadStatus that watches the pods with the labels, and returns
// the problem that it has found. It is ready in any case: it only observes.
func Watch(c *compose.Call, namespace, name string, labels map[string]string) (Problem, error) {
	if c.Processes {
		return Problem{}, nil
	}
	want := &v1alpha1.WorkloadStatus{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindWorkloadStatus},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.WorkloadStatusSpec{ForProvider: v1alpha1.WorkloadStatusParameters{Selector: labels}},
	}
	var seen v1alpha1.WorkloadStatus
	var found Problem
	if c.Observed(resPods, &seen) {
		at := seen.Status.AtProvider
		found = Problem{Reason: reason.Reason(at.Reason), Message: at.Message, Pod: at.Pod}
	}
	return found, c.Desire(resPods, want, compose.Ready)
}
