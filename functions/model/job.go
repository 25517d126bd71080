package model

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/memory"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/internal/names"
)

// States of a stage in the status. A Job is Running as soon as it is composed:
// the stage's progress says more than whether its pod has started.
const (
	jobPending      = "Pending"
	jobRunning      = "Running"
	jobSucceeded    = "Succeeded"
	jobFailed       = "Failed"
	jobNotRequested = "NotRequested"
)

// stage composes a Job and reports its progress in the conditions. artifact is the key of what
// the Job makes.
func (p *modelPlan) stage(j job.Job, artifact string, at *v1alpha1.Progress, condition string, running, failed reason.Reason) (state string, err error) {
	if p.usersDue.Any() && !p.Exists(j.Key) {
		p.FailIf(p.usersDue.Reason, p.usersDue.Message)
		return jobPending, nil
	}
	if err := p.Desire(j.Key, j.Job, compose.NotReady); err != nil {
		return "", err
	}
	pods, err := p.watchPods()
	if err != nil {
		return "", err
	}
	var seen batchv1.Job
	known := p.Observed(j.Key, &seen)
	if message, gaveUp := job.Failure(seen); known && gaveUp {
		p.giveUp(j.Name, condition, message, failed, pods.Problem)
		return jobFailed, nil
	}
	p.FailIf(pods.Reason, pods.Message)
	message := "Job " + strconv.Quote(j.Name) + " runs"
	switch synced := p.Condition(artifact, "Synced"); {
	case at != nil && at.Phase == string(progress.Failed), at != nil && at.Message != "":
		message += ", and tries again after: " + at.Message
	case synced.Status == metav1.ConditionFalse: // the provider and the Job use the same object store
		message += ". What it has stored is not known: " + synced.Message
	}
	if at != nil && at.Total > 0 {
		p.status.Progress = fmt.Sprintf("%s %d%%", at.Stage, min(max(at.Bytes, 0), at.Total)*100/at.Total)
		p.status.ETA = progress.Left(time.Duration(at.ETASeconds) * time.Second)
	}
	p.False(condition, running, "%s", message)
	p.Fail(running, "%s", message)
	return jobRunning, nil
}

// watchPods watches the pods of the Model's Jobs.
func (p *modelPlan) watchPods() (managed.Pods, error) {
	return managed.WatchProgress(p.Call, p.m.Namespace, names.Object(p.m.Name, "model", "pods"), workload.Owner("model", p.m.Name), job.PortProgress)
}

// guard fences the pods of the Model's Jobs, which others reach only to see how far they
// are. It stays when they have ended: to remove it takes more events than to keep it. There
// is none while the Jobs wait for the connections whose ports it needs.
func (p *modelPlan) guard() (compose.Next, error) {
	if !workload.Guarded(p.m.Spec.NetworkPolicy) {
		return compose.Continue, nil
	}
	out := p.egress()
	if !out.Known() && !p.Exists(resGuard) && !p.connected() {
		return compose.Continue, nil
	}
	policy := workload.Guard(p.m.Namespace, names.Object(p.m.Name, "model", "pods"), workload.Owner("model", p.m.Name),
		[]workload.Door{{Port: job.ProgressNumber}}, out.Ways(p.Call))
	return compose.Continue, p.Desire(resGuard, policy, compose.Ready)
}

// connected reports whether there is all that Jobs wait for.
func (p *modelPlan) connected() bool {
	queue, _ := managed.Ready(p.Call, resQueue)
	if p.m.Spec.PreConverted {
		return bool(queue)
	}
	bucket, _ := managed.Ready(p.Call, resBucket(p.to.buckets()[0]))
	var revision v1alpha1.HubRevision
	p.Observed(p.resRevision(), &revision)
	return bool(queue && bucket) && revision.Status.AtProvider.Commit != ""
}

// egress says what the Jobs connect to: the queue, and the object store and the hub if they
// load files.
func (p *modelPlan) egress() connection.Egress {
	out := connection.Egress{
		Policy: resGuard, Scheduling: p.m.Spec.Scheduling,
		Systems: [][]int32{connection.Ports(p.Call, resQueue)}, Ports: workload.EnvOf(p.m.Spec.Env, p.m.Spec.EnvFrom).Ports(),
	}
	if !p.m.Spec.PreConverted {
		out.Systems = append(out.Systems, p.storePorts(), connection.Ports(p.Call, p.resRevision()))
	}
	return out
}

// giveUp reports a Job that gave up. The problem of its pod, if it is known, says more
// than the exit status that the Job repeats.
func (p *modelPlan) giveUp(name, condition, message string, failed reason.Reason, problem managed.Problem) {
	why := job.Cause(message, failed)
	if reason.Final(string(problem.Reason)) {
		why = problem.Reason
	}
	message = cmp.Or(problem.Message, message)
	p.False(condition, failed, "Job %q gave up: %s", name, message)
	p.Fail(why, "Job %q gave up: %s", name, message)
}

func (p *modelPlan) fetchJob() (job.Job, error) {
	f := job.Fetch{From: p.to.ref, To: p.at.Source, ProgressKey: p.progressKey(p.at.Source, "fetch")}
	f.From.Revision = p.status.Commit
	var claimed *resource.Quantity
	if d := p.m.Spec.Download; d != nil {
		claimed = d.Memory
		f.Concurrency, f.PartMiB, f.Include, f.Exclude = d.Concurrency, d.ChunkMaxMiB, d.Include, d.Exclude
	}
	if t := p.tokenSecret(); t != nil {
		f.Token = &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: t.Name}, Key: "token"}
	}
	c := f.Container()
	c.Secrets, c.Login, c.Resources = []string{p.hubSecret(), p.storeSecret(), p.busSecret()}, p.logins.Of(resFetch), job.Memory(claimed)
	c.StoreKeys = p.storeKeys
	return p.job(resFetch, c, nil)
}

func (p *modelPlan) convertJob() (job.Job, error) {
	args := []string{
		"convert", "--from=" + p.at.Source, "--to=" + p.at.Converted,
		"--weights=" + p.weights, "--name=" + artifactName(p.to.ref.Repo),
		"--progress-key=" + p.progressKey(p.at.Converted, "convert"),
	}
	var claimed *resource.Quantity
	if c := p.m.Spec.Conversion; c != nil {
		claimed = c.Memory
	}
	return p.job(resConvert, workload.Container{Args: args, Secrets: []string{p.storeSecret(), p.busSecret()}, Login: p.logins.Of(resConvert), StoreKeys: p.storeKeys, Resources: job.Memory(claimed), Memory: memory.Convert(), Request: memory.Convert()}, nil)
}

// job returns the Job of a stage.
func (p *modelPlan) job(stage string, c workload.Container, claims map[string]workload.Claim) (job.Job, error) {
	c.Name, c.Image = stage, p.Image
	pod := workload.Pod{
		Labels:       workload.Labels(stage, "model", p.m.Name),
		Containers:   []workload.Container{c},
		Claims:       claims,
		Env:          workload.EnvOf(p.m.Spec.Env, p.m.Spec.EnvFrom),
		PullPolicy:   p.m.Spec.ImagePullPolicy,
		Scheduling:   p.m.Spec.Scheduling,
		GraceSeconds: job.GraceSeconds,
	}
	if stage == resFill {
		pod.Ports = map[string]int32{job.PortProgress: job.ProgressNumber}
	}
	for name := range claims {
		pod.Volumes = map[string]string{name: "/" + name}
	}
	return job.Named(workload.Job(p.m.Namespace, "", job.Retries, pod), p.m.Name, stage)
}

func (p *modelPlan) tokenSecret() *xpv2.LocalSecretReference {
	if d := p.m.Spec.Download; d != nil && d.HuggingFaceTokenSecretRef != nil {
		return &xpv2.LocalSecretReference{Name: strings.TrimSpace(d.HuggingFaceTokenSecretRef.Name)}
	}
	return nil
}

// artifactName is the name in the file names: the repository's, so that Models
// of the same source share files.
func artifactName(repository string) string {
	return names.Join(48, strings.ReplaceAll(strings.ReplaceAll(path.Base(repository), ".", "-"), "_", "-"))
}
