package model

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/model/progress"
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

// stage composes a Job that makes an artifact, and reports its progress in the conditions.
func (f *files) stage(j job.Job, makes artifact, condition string, running, failed reason.Reason) (state string, err error) {
	if f.keys.due.Any() && !f.Exists(j.Key) {
		f.FailIf(f.keys.due.Reason, f.keys.due.Message)
		return jobPending, nil
	}
	if err := f.Desire(j.Key, j.Job, compose.NotReady); err != nil {
		return "", err
	}
	pods, err := f.watchPods()
	if err != nil {
		return "", err
	}
	var seen batchv1.Job
	known := f.Observed(j.Key, &seen)
	if message, gaveUp := job.Failure(seen); known && gaveUp {
		f.giveUp(j.Name, condition, message, failed, pods.Problem)
		return jobFailed, nil
	}
	f.FailIf(pods.Reason, pods.Message)
	at, message := makes.Progress, "Job "+strconv.Quote(j.Name)+" runs"
	switch synced := f.Condition(makes.key, "Synced"); {
	case at != nil && at.Phase == string(progress.Failed), at != nil && at.Message != "":
		message += ", and tries again after: " + at.Message
	case synced.Status == metav1.ConditionFalse: // the provider and the Job use the same object store
		message += ". What it has stored is not known: " + synced.Message
	}
	if at != nil && at.Total > 0 {
		f.status.Progress = fmt.Sprintf("%s %d%%", at.Stage, min(max(at.Bytes, 0), at.Total)*100/at.Total)
		f.status.ETA = progress.Left(time.Duration(at.ETASeconds) * time.Second)
	}
	f.False(condition, running, "%s", message)
	f.Fail(running, "%s", message)
	return jobRunning, nil
}

// giveUp reports a Job that gave up. The problem of its pod, if it is known, says more
// than the exit status that the Job repeats.
func (f *files) giveUp(name, condition, message string, failed reason.Reason, problem managed.Problem) {
	why := job.Cause(message, failed)
	if reason.Final(string(problem.Reason)) {
		why = problem.Reason
	}
	message = cmp.Or(problem.Message, message)
	f.False(condition, failed, "Job %q gave up: %s", name, message)
	f.Fail(why, "Job %q gave up: %s", name, message)
}
