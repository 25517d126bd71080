package managed

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/model/progress"
)

// resPods is the name of the composed resource that watches pods.
const resPods = "pods"

// A Problem keeps pods from running. Its zero value means that none is known.
type Problem struct {
	Reason  reason.Reason
	Message string
	Pod     string // empty if it could not be created
}

// A Progress is the progress of one pod.
type Progress struct {
	Pod string
	progress.Summary
}

// Text returns "42%, 3m left".
func (p Progress) Text() string {
	text := fmt.Sprintf("%d%%", p.Percent)
	if eta := p.ETA(); eta != "" {
		text += ", " + eta + " left"
	}
	return text
}

// Start says how a root starts with a file: "loads m.m: 42%, 3m left".
func (p Progress) Start(file string) string {
	switch p.Stage {
	case "":
		return "loads " + file
	case progress.Fetch:
		return "fetches " + file + ": " + p.Text()
	}
	return "loads " + file + ": " + p.Text()
}

// Pods is what is known of the pods of a workload.
type Pods struct {
	Problem
	Progress []Progress // of those that tell it
}

// Of returns the progress of a pod; zero if it tells none.
func (p Pods) Of(pod string) Progress {
	return p.first(func(name string) bool { return name == pod })
}

// OfJob returns the progress of the pod of a Job; zero if it tells none.
func (p Pods) OfJob(job string) Progress {
	return p.first(func(name string) bool { return PodOf(job, name) })
}

func (p Pods) first(of func(pod string) bool) Progress {
	i := slices.IndexFunc(p.Progress, func(at Progress) bool { return of(at.Pod) })
	if i < 0 {
		return Progress{}
	}
	return p.Progress[i]
}

// PodOf reports whether a pod has the name of one of a Job.
func PodOf(job, pod string) bool {
	const generatedName = 58 // Kubernetes takes no more of the name of a Job and a dash
	pods := job + "-"
	return strings.HasPrefix(pod, pods[:min(len(pods), generatedName)])
}

// Watch composes a WorkloadStatus that watches the pods with the labels, and returns
// the problem that it has found. It is ready in any case: it only observes.
func Watch(c *compose.Call, namespace, name string, labels map[string]string) (Problem, error) {
	found, err := WatchPods(c, namespace, name, v1alpha1.WorkloadStatusParameters{Selector: labels})
	return found.Problem, err
}

// WatchProgress is Watch, and asks the pods for their progress on the port of that name.
func WatchProgress(c *compose.Call, namespace, name string, labels map[string]string, port string) (Pods, error) {
	return WatchPods(c, namespace, name, v1alpha1.WorkloadStatusParameters{Selector: labels, ProgressPort: port})
}

// WatchPods is Watch, with all that a WorkloadStatus observes.
func WatchPods(c *compose.Call, namespace, name string, of v1alpha1.WorkloadStatusParameters) (Pods, error) {
	if c.Processes {
		return Pods{}, nil
	}
	want := &v1alpha1.WorkloadStatus{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindWorkloadStatus},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.WorkloadStatusSpec{ForProvider: of},
	}
	var seen v1alpha1.WorkloadStatus
	var found Pods
	if c.Observed(resPods, &seen) {
		at := seen.Status.AtProvider
		found.Problem = Problem{Reason: reason.Reason(at.Reason), Message: at.Message, Pod: at.Pod}
		for _, p := range at.Progress {
			found.Progress = append(found.Progress, Progress{p.Pod, progress.Summary{
				Stage: p.Stage, Bytes: p.Bytes, Total: p.Total, Percent: p.Percent, ETASeconds: p.ETASeconds,
			}})
		}
	}
	return found, c.Desire(resPods, want, compose.Ready)
}
