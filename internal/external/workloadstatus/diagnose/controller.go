package diagnose

import (
	"fmt"
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// used is the part of the message of a quota that changes with other pods.
var used = regexp.MustCompile(`, used: .*?, limited:`)

// controllers returns why pods are missing.
func (s Scene) controllers() []finding {
	var out []finding
	add := func(kind string, m metav1.ObjectMeta, text string) {
		if text != "" {
			out = append(out, finding{refused(kind, m.Name, text), m.CreationTimestamp.Unix()})
		}
	}
	for _, d := range s.Deployments {
		for _, c := range d.Status.Conditions {
			if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
				add("Deployment", d.ObjectMeta, c.Message)
			}
		}
	}
	for _, set := range s.StatefulSets {
		if want := set.Spec.Replicas; want == nil && set.Status.Replicas < 1 || want != nil && set.Status.Replicas < *want {
			add("StatefulSet", set.ObjectMeta, s.failedCreate(set.ObjectMeta))
		}
	}
	for _, j := range s.Jobs {
		if j.Status.Active == 0 && j.Status.Succeeded == 0 && !failed(j) {
			add("Job", j.ObjectMeta, s.failedCreate(j.ObjectMeta))
		}
	}
	return out
}

func failed(j *batchv1.Job) bool {
	for _, c := range j.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobFailed || c.Type == batchv1.JobFailureTarget || c.Type == batchv1.JobSuspended) {
			return true
		}
	}
	return false
}

// failedCreate returns the newest refusal of a pod of a controller.
func (s Scene) failedCreate(m metav1.ObjectMeta) string {
	for _, e := range newestFirst(about(s.Events, m.UID), "FailedCreate") {
		return e.Message
	}
	return ""
}

// refused explains the refusal of a pod by the API server.
func refused(kind, name, text string) Diagnosis {
	if _, cause, ok := strings.Cut(text, " error: "); ok {
		text = cause
	}
	text = strings.TrimPrefix(text, "Error creating: ")
	text = short(used.ReplaceAllString(text, ", limited:"))
	reason, mend := PodRefused, "do what the message asks"
	switch {
	case strings.Contains(text, "exceeded quota"):
		reason, mend = QuotaExceeded, "raise the quota, or lower the requests of the claim"
	case strings.Contains(text, "failed quota"), strings.Contains(text, "must specify"):
		reason, mend = QuotaExceeded, "set the resources in the claim, or a LimitRange with defaults in the namespace"
	case strings.Contains(text, "usage per") || strings.Contains(text, "LimitRange"):
		reason, mend = QuotaExceeded, "change the LimitRange, or the resources of the claim"
	case strings.Contains(text, "violates PodSecurity"):
		mend = "label the namespace with a level of pod-security.kubernetes.io/enforce that allows it, or leave out what the level forbids"
	case strings.Contains(text, "serviceaccount") || strings.Contains(text, "service account"):
		mend = "create the service account, or correct serviceAccountName of the claim"
	case strings.Contains(text, "PriorityClass"):
		mend = "create the PriorityClass, or correct priorityClassName of the claim"
	case strings.Contains(text, "admission webhook"):
		mend = "change the policy of the webhook, or what it refuses"
	}
	return Diagnosis{Reason: reason, Message: fmt.Sprintf("%s %q cannot create pods: %s; %s", kind, name, text, mend)}
}
