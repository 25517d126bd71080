package simulate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNext(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	pod := func(change ...func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{Spec: corev1.PodSpec{
			NodeName:      Node,
			RestartPolicy: corev1.RestartPolicyAlways,
			Containers:    []corev1.Container{{Name: "a"}, {Name: "b"}},
		}}
		for _, c := range change {
			c(p)
		}
		return p
	}
	unscheduled := func(p *corev1.Pod) { p.Spec.NodeName = "" }
	once := func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyNever }
	deleted := func(p *corev1.Pod) { p.DeletionTimestamp = &now }
	running := func(p *corev1.Pod) { next(p, Run()) }
	ready := func(p *corev1.Pod) { next(p, Run()); next(p, Run()) }
	crashed := func(p *corev1.Pod) { next(p, Run()); next(p, Exit(1)) }

	cases := map[string]struct {
		pod      *corev1.Pod
		behavior Behavior
		want     step
		phase    corev1.PodPhase
		ready    bool
		reason   string // of the first container
		exit     int32
	}{
		"Unscheduled":           {pod: pod(unscheduled), want: bind},
		"Scheduled":             {pod: pod(), want: report, phase: corev1.PodRunning},
		"Running":               {pod: pod(running), want: report, phase: corev1.PodRunning, ready: true},
		"Ready":                 {pod: pod(ready), want: wait, phase: corev1.PodRunning, ready: true},
		"NoLongerReady":         {pod: pod(ready), behavior: Unready(), want: report, phase: corev1.PodRunning},
		"NeverReady":            {pod: pod(running), behavior: Unready(), want: wait, phase: corev1.PodRunning},
		"ImageMissing":          {pod: pod(), behavior: Waiting("ImagePullBackOff", "no"), want: report, reason: "ImagePullBackOff"},
		"Crashes":               {pod: pod(ready), behavior: Exit(1), want: report, phase: corev1.PodRunning, reason: "CrashLoopBackOff"},
		"StaysCrashed":          {pod: pod(crashed), behavior: Exit(1), want: wait, phase: corev1.PodRunning, reason: "CrashLoopBackOff"},
		"Recovers":              {pod: pod(crashed), want: report, phase: corev1.PodRunning, ready: true},
		"JobRunning":            {pod: pod(once, running), want: report, phase: corev1.PodSucceeded, reason: "Completed"},
		"JobFails":              {pod: pod(once, running), behavior: Exit(12), want: report, phase: corev1.PodFailed, reason: "Error", exit: 12},
		"JobNeverEnds":          {pod: pod(once, running), behavior: Unready(), want: wait, phase: corev1.PodRunning},
		"JobEnded":              {pod: pod(once, running, running), want: nothing, phase: corev1.PodSucceeded, reason: "Completed"},
		"DeletedUnscheduled":    {pod: pod(unscheduled, deleted), want: remove},
		"DeletedWhileRunning":   {pod: pod(ready, deleted), want: report, phase: corev1.PodFailed, reason: "Error", exit: exitTerminated},
		"DeletedAndEnded":       {pod: pod(once, ready, deleted), want: remove, phase: corev1.PodSucceeded, reason: "Completed"},
		"DeletedAndNeverPulled": {pod: pod(deleted), behavior: Waiting("ImagePullBackOff", ""), want: report, phase: corev1.PodFailed, reason: "Error", exit: exitTerminated},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := next(tc.pod, tc.behavior); got != tc.want {
				t.Errorf("next step %q, want %q", got, tc.want)
			}
			if got := tc.pod.Status.Phase; got != tc.phase {
				t.Errorf("phase %q, want %q", got, tc.phase)
			}
			if got := isReady(tc.pod); got != tc.ready {
				t.Errorf("ready %t, want %t", got, tc.ready)
			}
			if reason, exit := state(tc.pod); reason != tc.reason || exit != tc.exit {
				t.Errorf("first container has reason %q and status %d, want %q and %d", reason, exit, tc.reason, tc.exit)
			}
		})
	}
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func state(p *corev1.Pod) (reason string, exit int32) {
	if len(p.Status.ContainerStatuses) == 0 {
		return "", 0
	}
	s := p.Status.ContainerStatuses[0].State
	if s.Waiting != nil {
		return s.Waiting.Reason, 0
	}
	if s.Terminated != nil {
		return s.Terminated.Reason, s.Terminated.ExitCode
	}
	return "", 0
}
