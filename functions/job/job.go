// Package job builds the Jobs that run our own binary once, such as a download,
// and reads what became of them.
package job

import (
	"encoding/json"
	"fmt"
	"regexp"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// Retries of a Job whose failures may pass: network, hub, store.
const Retries = 10

// GraceSeconds in which a Job keeps what it has done.
const GraceSeconds = 30

// A Job is a Job, and the name of the composed resource.
type Job struct {
	*batchv1.Job
	Key string
}

// Named names a Job by its owner and stage, and by a hash of its spec and of
// marks, because the pod template of an existing Job cannot change: another
// spec or mark is another Job.
func Named(j *batchv1.Job, owner, stage string, marks ...string) (Job, error) {
	raw, err := json.Marshal(j.Spec)
	if err != nil {
		return Job{}, fmt.Errorf("cannot hash Job %q: %w", stage, err)
	}
	key := stage + "-" + names.Hash(8, append([]string{string(raw)}, marks...)...)
	j.Name = names.Object(owner, key)
	return Job{j, key}, nil
}

// Failure returns the message of a Job that gave up.
func Failure(j batchv1.Job) (message string, gaveUp bool) {
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

// Cause says by the exit status in the message of a Failure why a Job gave up.
// The statuses are those of internal/fault.
func Cause(message string, otherwise reason.Reason) reason.Reason {
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

// Memory is what the claim says of the memory of a Job: request and limit.
func Memory(q *resource.Quantity) corev1.ResourceRequirements {
	if q == nil {
		return corev1.ResourceRequirements{}
	}
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceMemory: *q},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: *q},
	}
}
