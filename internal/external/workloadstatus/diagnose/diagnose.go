// Package diagnose finds out what keeps the pods of a claim from running, from what
// the API server has of them. It is pure: it reads no clock and no network.
//
// Messages do not hold what changes while the problem stays, such as counts of nodes
// or times of retries: each change is a write, and Crossplane limits these.
package diagnose

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// A Scene holds the pods with the labels of one claim, what creates them, and the
// warnings of the namespace.
type Scene struct {
	Pods         []*corev1.Pod
	StatefulSets []*appsv1.StatefulSet
	Deployments  []*appsv1.Deployment
	Jobs         []*batchv1.Job
	Events       []*corev1.Event

	// Labels are those of the claim, and Planned the pods that it will have.
	Labels  map[string]string
	Planned []Planned
	// Nodes are those of the cluster; none if they are not known.
	Nodes []*corev1.Node
	// Used is what the pods on the candidates among the nodes request; nil if that is
	// not known.
	Used map[string]corev1.ResourceList
}

// A Diagnosis is the problem that a user has to know first. Zero: there is none.
type Diagnosis struct {
	// Reason is one of Causes.
	Reason string `json:"reason,omitempty"`
	// Message names the objects, what is wrong, and the mend.
	Message string `json:"message,omitempty"`
	// Pod is the name of the pod; empty if it could not be created.
	Pod string `json:"pod,omitempty"`
}

// A finding is one problem of a scene.
type finding struct {
	Diagnosis
	at int64 // time of creation of the pod or its controller, for the order
}

// Diagnose returns the most causal problem of a scene, by the order of Causes, and of
// several the one of the newest pod.
func Diagnose(s Scene) Diagnosis {
	found := slices.Concat(s.controllers(), s.capacity())
	for _, p := range s.current() {
		if f := s.pod(p); f.Reason != "" {
			f.Pod = p.Name
			found = append(found, finding{f, p.CreationTimestamp.Unix()})
		}
	}
	if len(found) == 0 {
		return Diagnosis{}
	}
	return slices.MinFunc(found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(rank(a.Reason), rank(b.Reason)), cmp.Compare(b.at, a.at), cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.Message, b.Message))
	}).Diagnosis
}

// current returns the pods that matter: not those that are being deleted, and no
// failed ones that others have replaced.
func (s Scene) current() []*corev1.Pod {
	newest := map[string]*corev1.Pod{}
	for _, p := range s.Pods {
		for _, key := range []string{controller(p), kin(p)} {
			if last := newest[key]; last == nil || last.CreationTimestamp.Before(&p.CreationTimestamp) {
				newest[key] = p
			}
		}
	}
	var out []*corev1.Pod
	for _, p := range s.Pods {
		over := p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
		replaced := over && (newest[controller(p)] != p || newest[kin(p)] != p || s.complete(p)) && !s.doomed(p, newest[controller(p)])
		if p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodSucceeded && !replaced {
			out = append(out, p)
		}
	}
	return out
}

// doomed reports whether the next pod of a Job, which runs, will fail as this one did:
// it has as little memory.
func (s Scene) doomed(p, next *corev1.Pod) bool {
	return ofJob(p) && next != p && (next.Status.Phase == corev1.PodRunning || next.Status.Phase == corev1.PodPending) &&
		slices.ContainsFunc(p.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
			return exhausted(c.State.Terminated) && s.starved(p, c.Name)
		})
}

// complete reports whether the controller of pods like this one has as many ready ones
// as it wants.
func (s Scene) complete(p *corev1.Pod) bool {
	enough := func(selector *metav1.LabelSelector, wanted *int32, ready int32) bool {
		of, err := metav1.LabelSelectorAsSelector(selector)
		return err == nil && of.Matches(labels.Set(p.Labels)) && (wanted == nil && ready >= 1 || wanted != nil && ready >= *wanted)
	}
	return slices.ContainsFunc(s.Deployments, func(d *appsv1.Deployment) bool {
		return enough(d.Spec.Selector, d.Spec.Replicas, d.Status.ReadyReplicas)
	}) || slices.ContainsFunc(s.StatefulSets, func(set *appsv1.StatefulSet) bool {
		return enough(set.Spec.Selector, set.Spec.Replicas, set.Status.ReadyReplicas)
	})
}

// kin returns the labels of a pod, without those that Kubernetes sets for one revision,
// controller or pod.
func kin(p *corev1.Pod) string {
	of := labels.Set{}
	for key, value := range p.Labels {
		switch key {
		case appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey, appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel,
			batchv1.ControllerUidLabel, "controller-uid":
		default:
			of[key] = value
		}
	}
	return of.String()
}

// controller returns the UID of the controller of a pod, or its own.
func controller(p *corev1.Pod) string {
	for _, o := range p.OwnerReferences {
		if o.Controller != nil && *o.Controller {
			return string(o.UID)
		}
	}
	return string(p.UID)
}

func ofJob(p *corev1.Pod) bool { return p.Spec.RestartPolicy == corev1.RestartPolicyNever }

// pod returns the problem of one pod, without its name.
func (s Scene) pod(p *corev1.Pod) Diagnosis {
	if ready(p) {
		return Diagnosis{}
	}
	if p.Status.Phase == corev1.PodFailed && p.Status.Reason != "" && p.Status.Reason != "Error" {
		return evicted(p, p.Status.Reason, p.Status.Message)
	}
	if d := unschedulable(p, s.Events); d.Reason != "" {
		return d
	}
	if d := s.containers(p); d.Reason != "" {
		return d
	}
	if d := replaced(p, s.Events); d.Reason != "" {
		return d
	}
	return volumes(p, s.Events)
}

func ready(p *corev1.Pod) bool {
	c := condition(p, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

func condition(p *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == kind {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}
