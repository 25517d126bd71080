package diagnose

import (
	"fmt"
	"regexp"
	"slices"
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
		if j.Status.Active == 0 && j.Status.Succeeded == 0 && !gaveUp(j) && !is(j, batchv1.JobSuspended) {
			add("Job", j.ObjectMeta, s.failedCreate(j.ObjectMeta))
		}
	}
	return out
}

func gaveUp(j *batchv1.Job) bool { return is(j, batchv1.JobFailed, batchv1.JobFailureTarget) }

func is(j *batchv1.Job, kinds ...batchv1.JobConditionType) bool {
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Status == corev1.ConditionTrue && slices.Contains(kinds, c.Type)
	})
}

// failedCreate returns the newest refusal of a pod of a controller, unless it has
// created one since.
func (s Scene) failedCreate(m metav1.ObjectMeta) string {
	found := newestFirst(about(s.Events, m.UID), "FailedCreate")
	if len(found) == 0 {
		return ""
	}
	for _, p := range s.Pods {
		if controller(p) == string(m.UID) && !timeOf(found[0]).After(p.CreationTimestamp.Time) {
			return ""
		}
	}
	return found[0].Message
}

// unanswered are failures of the API server, of its store or of a webhook, which
// refuse nothing.
var unanswered = regexp.MustCompile(`(?i)internal error|time(d )?out|deadline exceeded|connection re(fused|set)|no endpoints available|failed calling webhook|etcdserver|status unknown for quota|try again`)

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
	case strings.Contains(text, "denied the request"):
		mend = "change the policy of the webhook, or what it refuses"
	case strings.Contains(text, "is invalid"):
	case unanswered.MatchString(text):
		reason, mend = PodCreationFailed, "Kubernetes tries again; check the API server, and the webhook if the message names one"
	case strings.Contains(text, "serviceaccount") || strings.Contains(text, "service account"):
		mend = "create the service account, or correct serviceAccountName of the claim"
	case strings.Contains(text, "PriorityClass"):
		mend = "create the PriorityClass, or correct priorityClassName of the claim"
	}
	return Diagnosis{Reason: reason, Message: fmt.Sprintf("%s %q cannot create pods: %s; %s", kind, name, text, mend)}
}
