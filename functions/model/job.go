package model

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// retries of a Job whose failures may pass: network, hub, store.
const retries = 10

// States of a stage in the status. A Job is Running as soon as it is composed:
// the stage's progress says more than whether its pod has started.
const (
	jobPending      = "Pending"
	jobRunning      = "Running"
	jobSucceeded    = "Succeeded"
	jobFailed       = "Failed"
	jobNotRequested = "NotRequested"
)

// stage composes a Job and reports its progress in the conditions.
func (p *modelPlan) stage(job stageJob, at *v1alpha1.Progress, condition string, running, failed reason.Reason) (state string, err error) {
	if err := p.Desire(job.key, job.Job, compose.NotReady); err != nil {
		return "", err
	}
	var seen batchv1.Job
	known := p.Observed(job.key, &seen)
	if message, gaveUp := failure(seen); known && gaveUp {
		p.False(condition, failed, "Job %q gave up: %s", job.Name, message)
		p.Fail(cause(message, failed), "Job %q gave up: %s", job.Name, message)
		return jobFailed, nil
	}
	message := "Job " + strconv.Quote(job.Name) + " runs"
	if at != nil && at.Phase == "Failed" {
		message += ", and tries again after: " + at.Message
	}
	if at != nil && at.Total > 0 {
		p.status.Progress = fmt.Sprintf("%s %d%%", at.Stage, min(max(at.Bytes, 0), at.Total)*100/at.Total)
	}
	p.False(condition, running, "%s", message)
	p.Fail(running, "%s", message)
	return jobRunning, nil
}

// failure returns the message of a Job that gave up.
func failure(j batchv1.Job) (message string, gaveUp bool) {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobFailed || c.Type == batchv1.JobFailureTarget) && c.Status == corev1.ConditionTrue {
			return c.Message, true
		}
	}
	return "", false
}

// exitCode finds the exit status in the message of a Job that its pod failure
// policy ended.
var exitCode = regexp.MustCompile(`exit code (\d+)`) //nolint:gochecknoglobals // compiled once

// cause says by the exit status why a Job gave up. The statuses are those of
// internal/fault.
func cause(message string, otherwise reason.Reason) reason.Reason {
	found := exitCode.FindStringSubmatch(message)
	if found == nil {
		return otherwise
	}
	switch found[1] {
	case "10":
		return reason.InputRefused
	case "11":
		return reason.CredentialsRefused
	case "12":
		return reason.SourceNotFound
	case "13":
		return reason.StorageFull
	case "14":
		return reason.DataCorrupt
	case "15":
		return reason.StorageConflict
	}
	return otherwise
}

func (p *modelPlan) fetchJob() (stageJob, error) {
	ref := p.ref
	ref.Revision = p.commit
	args := []string{"fetch", "--from=" + ref.String(), "--to=" + p.sourceURL(), "--progress-key=" + p.progressKey(p.sourceURL(), "fetch")}
	secrets := map[string]corev1.SecretKeySelector{}
	var memory *resource.Quantity
	if d := p.m.Spec.Download; d != nil {
		memory = d.Memory
		if d.Concurrency > 0 {
			args = append(args, "--concurrency="+strconv.Itoa(int(d.Concurrency)))
		}
		if d.ChunkMaxMiB > 0 {
			args = append(args, "--part-size="+strconv.Itoa(int(d.ChunkMaxMiB)))
		}
		for _, pattern := range d.Include {
			args = append(args, "--include="+pattern)
		}
		for _, pattern := range d.Exclude {
			args = append(args, "--exclude="+pattern)
		}
	}
	if t := p.tokenSecret(); t != nil {
		if ref.Endpoint != "" { // the Model names both, so the token is for that hub
			args = append(args, "--token-endpoint="+ref.Endpoint)
		}
		secrets[names.EnvHFToken] = corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: t.Name}, Key: "token"}
	}
	return p.job(resFetch, workload.Container{Args: args, SecretEnv: secrets, Secrets: []string{p.storeSecret(), p.busSecret()}, Resources: memoryOf(memory)}, nil)
}

func (p *modelPlan) convertJob() (stageJob, error) {
	args := []string{
		"convert", "--from=" + p.sourceURL(), "--to=" + p.convertedURL(),
		"--weights=" + p.weights, "--name=" + p.artifactName(),
		"--progress-key=" + p.progressKey(p.convertedURL(), "convert"),
	}
	var memory *resource.Quantity
	if c := p.m.Spec.Conversion; c != nil {
		memory = c.Memory
	}
	return p.job(resConvert, workload.Container{Args: args, Secrets: []string{p.storeSecret(), p.busSecret()}, Resources: memoryOf(memory)}, nil)
}

// memoryOf is the memory of a Job: what the claim names, as request and limit,
// else a request that is enough for every model.
func memoryOf(q *resource.Quantity) corev1.ResourceRequirements {
	if q == nil {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")}}
	}
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceMemory: *q},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: *q},
	}
}

// A stageJob is the Job of a stage, and the name of the composed resource.
type stageJob struct {
	*batchv1.Job
	key string
}

// job returns a Job whose name holds a hash of its pod template, because that of
// an existing Job cannot change.
func (p *modelPlan) job(stage string, c workload.Container, claims map[string]workload.Claim) (stageJob, error) {
	c.Name, c.Image = stage, p.Image
	pod := workload.Pod{
		Labels:       workload.Labels(stage, "model", p.m.Name),
		Containers:   []workload.Container{c},
		Claims:       claims,
		Scheduling:   p.m.Spec.Scheduling,
		GraceSeconds: 30,
	}
	for name := range claims {
		pod.Volumes = map[string]string{name: "/" + name}
	}
	job := workload.Job(p.m.Namespace, "", retries, pod)
	raw, err := json.Marshal(job.Spec)
	if err != nil {
		return stageJob{}, fmt.Errorf("cannot hash Job %q: %w", stage, err)
	}
	key := stage + "-" + names.Hash(8, string(raw))
	job.Name = names.Object(p.m.Name, key)
	return stageJob{job, key}, nil
}

func (p *modelPlan) tokenSecret() *xpv2.LocalSecretReference {
	if d := p.m.Spec.Download; d != nil && d.HuggingFaceTokenSecretRef != nil {
		return &xpv2.LocalSecretReference{Name: strings.TrimSpace(d.HuggingFaceTokenSecretRef.Name)}
	}
	return nil
}
