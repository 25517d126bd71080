package diagnose

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const reasonOOMKilled = "OOMKilled"

const (
	// crashes is the number of restarts from which a container that runs and is not
	// ready counts as one that ends again and again.
	crashes = 2
	// brief is how long the last of these runs was at most: earlier restarts of a
	// container that ran well for longer had other causes.
	brief = 10 * time.Minute
)

// containers returns the problem of the first container of a pod that has one, init
// containers first.
func (s Scene) containers(p *corev1.Pod) Diagnosis {
	specs := map[string]corev1.Container{}
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for _, c := range list {
			specs[c.Name] = c
		}
	}
	var found []Diagnosis
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for _, c := range list {
			if d := s.container(p, specs[c.Name], c); d.Reason != "" {
				found = append(found, d)
			}
		}
	}
	best := Diagnosis{}
	for _, d := range found {
		if best.Reason == "" || rank(d.Reason) < rank(best.Reason) {
			best = d
		}
	}
	return best
}

func (s Scene) container(p *corev1.Pod, c corev1.Container, now corev1.ContainerStatus) Diagnosis {
	if w := now.State.Waiting; w != nil {
		switch w.Reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable":
			return pull(p, c, *w, s.Events)
		case "CreateContainerConfigError":
			return config(p, c, w.Message)
		case "CreateContainerError", "RunContainerError", "PreCreateHookError", "PreStartHookError", "PostStartHookError":
			return start(p, c, cmp.Or(w.Message, w.Reason))
		}
	}
	t := end(p, now)
	if now.Ready || t == nil || t.ExitCode == 0 {
		return Diagnosis{}
	}
	looping := now.State.Waiting != nil && now.State.Waiting.Reason == "CrashLoopBackOff" ||
		now.RestartCount >= crashes && t.FinishedAt.Sub(t.StartedAt.Time) < brief
	if t.Reason == reasonOOMKilled {
		return exceeded(p, c, looping || s.starved(p, c.Name))
	}
	return ended(p, c, *t, looping)
}

// end returns how the last run of a container ended; nil if it has been ready since.
func end(p *corev1.Pod, now corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if now.State.Terminated != nil {
		return now.State.Terminated
	}
	// The pod stops being ready before its container starts again. If it stopped being
	// ready later, then it was ready in this run.
	if c := condition(p, corev1.PodReady); c != nil && now.State.Running != nil && c.LastTransitionTime.After(now.State.Running.StartedAt.Time) {
		return nil
	}
	return now.LastTerminationState.Terminated
}

// starved reports whether a container had too little memory in several runs, of this
// pod or of others of the same controller, or in a Job that gave up.
func (s Scene) starved(p *corev1.Pod, container string) bool {
	for _, j := range s.Jobs {
		if string(j.UID) == controller(p) && gaveUp(j) {
			return true
		}
	}
	runs := 0
	for _, other := range s.Pods {
		if controller(other) != controller(p) || ready(other) {
			continue
		}
		for _, list := range [][]corev1.ContainerStatus{other.Status.InitContainerStatuses, other.Status.ContainerStatuses} {
			for _, c := range list {
				if c.Name != container {
					continue
				}
				if exhausted(end(other, c)) {
					runs++
				}
				if c.State.Terminated != nil && exhausted(c.LastTerminationState.Terminated) {
					runs++
				}
			}
		}
	}
	return runs > 1
}

func exhausted(t *corev1.ContainerStateTerminated) bool {
	return t != nil && t.Reason == reasonOOMKilled
}

// config returns the problem of a container whose configuration is not complete.
func config(p *corev1.Pod, c corev1.Container, message string) Diagnosis {
	if strings.Contains(message, "runAsNonRoot") || strings.Contains(message, "non-root") {
		return Diagnosis{Reason: ContainerNotStarted, Message: fmt.Sprintf(
			"Pod %q cannot start container %q: image %q runs as root; name an image that runs as another user, or set runAsUser of the server", p.Name, c.Name, c.Image)}
	}
	return Diagnosis{Reason: ConfigMissing, Message: fmt.Sprintf(
		"Pod %q cannot start container %q: %s; create it, or correct the reference to it", p.Name, c.Name, short(message))}
}

// limitTooLow reports whether a runtime says that the memory limit is too low for the start
// of a container, or for that of a pod all of whose containers have limits: runc does once
// the kernel has ended it, and CRI-O before.
func limitTooLow(message string) bool {
	return strings.Contains(message, "container init was OOM-killed") ||
		strings.Contains(message, "set memory limit") && strings.Contains(message, "too low")
}

// start returns the problem of a container that the runtime of the node refuses.
func start(p *corev1.Pod, c corev1.Container, message string) Diagnosis {
	f := fieldsOf(p.Labels, c.Name)
	switch {
	case limitTooLow(message):
		return exceeded(p, c, true)
	case strings.Contains(message, "executable file not found"), strings.Contains(message, "exec") && strings.Contains(message, "no such file or directory"):
		program := "its program"
		if len(c.Command) > 0 {
			program = fmt.Sprintf("program %q", c.Command[0])
		}
		return Diagnosis{Reason: ProgramMissing, Message: fmt.Sprintf(
			"Pod %q cannot start container %q: image %q does not hold %s; set %s to one that does", p.Name, c.Name, c.Image, program, f.named())}
	case strings.Contains(message, "exec format error"):
		return Diagnosis{Reason: ContainerNotStarted, Message: fmt.Sprintf(
			"Pod %q cannot start container %q: image %q is built for another processor; name one for that of the node, or set %s", p.Name, c.Name, c.Image, f.placing("nodeSelector"))}
	}
	return Diagnosis{Reason: ContainerNotStarted, Message: fmt.Sprintf("Pod %q cannot start container %q: %s; see kubectl describe pod %s", p.Name, c.Name, short(message), p.Name)}
}

// ended returns the problem of a container that has ended. One that ends once, and
// then starts again, is none, unless the next run ends the same way.
func ended(p *corev1.Pod, c corev1.Container, t corev1.ContainerStateTerminated, looping bool) Diagnosis {
	if t.Reason == "StartError" || t.Reason == "ContainerCannotRun" {
		return start(p, c, t.Message)
	}
	if d := ownEnd(p, c, t); d.Reason != "" {
		return d
	}
	if d := refusedArgument(p, c, t); d.Reason != "" {
		return d
	}
	if !looping || ofJob(p) {
		return Diagnosis{} // a Job tries again, and its progress says why
	}
	why := ""
	if words := short(t.Message); words != "" {
		why = ": " + words
	}
	return Diagnosis{Reason: CrashLooping, Message: fmt.Sprintf(
		"Pod %q: container %q ends again and again, with exit status %d%s; see kubectl logs --previous %s -c %s", p.Name, c.Name, t.ExitCode, why, p.Name, c.Name)}
}

// ownEnd explains an exit status of Koldun's own program. Its last words are in the
// message; an exit status without words is one of another program.
func ownEnd(p *corev1.Pod, c corev1.Container, t corev1.ContainerStateTerminated) Diagnosis {
	reason, known := map[int32]string{
		10: InputRefused, 11: CredentialsRefused, 12: SourceNotFound, 13: StorageFull, 14: DataCorrupt, 15: StorageConflict,
	}[t.ExitCode]
	words := short(t.Message)
	if !known || words == "" || !ours(c.Command) {
		return Diagnosis{}
	}
	if reason == SourceNotFound && strings.Contains(words, "cannot supervise program") {
		return Diagnosis{Reason: ProgramMissing, Message: fmt.Sprintf("Pod %q: image %q cannot be used in container %q: %s", p.Name, c.Image, c.Name, words)}
	}
	if args := fieldsOf(p.Labels, c.Name).args; args != "" && strings.Contains(words, "cannot read the arguments") {
		words += "; correct " + args
	}
	if reason == StorageFull {
		words += "; enlarge the volume or the quota of the bucket, or delete models"
	}
	return Diagnosis{Reason: reason, Message: fmt.Sprintf("Pod %q: container %q ended: %s", p.Name, c.Name, words)}
}

// exceeded returns the problem of a container that had too little memory. If it has
// a limit, then one run proves nothing: the next may need less.
func exceeded(p *corev1.Pod, c corev1.Container, again bool) Diagnosis {
	f := fieldsOf(p.Labels, c.Name)
	limit, bounded := c.Resources.Limits[corev1.ResourceMemory]
	switch {
	case !bounded:
		return Diagnosis{Reason: NodeOutOfMemory, Message: fmt.Sprintf(
			"Pod %q: the kernel ended container %q because the node has no memory left; run it on a node with more", p.Name, c.Name)}
	case !again:
		return Diagnosis{}
	case f.memory == "":
		return Diagnosis{Reason: OutOfMemory, Message: fmt.Sprintf(
			"Pod %q: container %q needs more than its memory limit of %s; raise it", p.Name, c.Name, limit.String())}
	}
	return Diagnosis{Reason: OutOfMemory, Message: fmt.Sprintf(
		"Pod %q: container %q needs more than its memory limit of %s; raise %s", p.Name, c.Name, limit.String(), f.memory)}
}
