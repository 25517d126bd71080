package local

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/pod"
)

// A failed attempt is retried after firstRetry, then after twice as long each
// time up to lastRetry. Kubernetes waits ten seconds and more; here a user is
// watching.
const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = 15 * time.Second
)

// A job runs the pod of a Job to completion: one pod, completed once.
type job struct {
	l    *Local
	e    *entry
	spec jobSpec

	waiting bool // for a Secret
	cancel  context.CancelFunc
	running bool
	over    bool
	done    []func()
}

type jobSpec struct {
	BackoffLimit          *int     `json:"backoffLimit"`
	ActiveDeadlineSeconds *int     `json:"activeDeadlineSeconds"`
	Template              template `json:"template"`
	PodFailurePolicy      struct {
		Rules []failureRule `json:"rules"`
	} `json:"podFailurePolicy"`
}

type failureRule struct {
	Action      string `json:"action"`
	OnExitCodes *struct {
		ContainerName string `json:"containerName"`
		Operator      string `json:"operator"`
		Values        []int  `json:"values"`
	} `json:"onExitCodes"`
}

// A verdict is the decision of a Job about a failed attempt.
type verdict string

const (
	failJob verdict = "FailJob"
	ignore  verdict = "Ignore"
	count   verdict = "Count"
)

// judge applies the first matching rule, as Kubernetes does.
func (s jobSpec) judge(r pod.Result) verdict {
	for _, rule := range s.PodFailurePolicy.Rules {
		on := rule.OnExitCodes
		if on == nil || on.ContainerName != "" && on.ContainerName != r.Container {
			continue
		}
		if slices.Contains(on.Values, r.Code) == (on.Operator == "In") {
			return verdict(rule.Action)
		}
	}
	return count
}

func (s jobSpec) backoffLimit() int {
	if s.BackoffLimit == nil {
		return 6
	}
	return *s.BackoffLimit
}

func (j *job) apply() {
	if j.running || j.over {
		return // the spec of a Job is immutable
	}
	err := fault.As(fault.Invalid, j.e.obj.Decode(&j.spec, "spec"))
	if err == nil {
		err = j.l.pods.host().Runnable(j.spec.Template.Spec)
	}
	if err != nil {
		j.block(err)
		return
	}
	j.start()
}

func (j *job) retry() {
	if j.waiting && !j.over {
		j.start()
	}
}

func (j *job) block(err error) {
	j.over = true
	j.e.blocked = err.Error()
	j.l.table.emit(Event{Type: NotRunHere, Object: j.e.key, Message: err.Error()})
}

func (j *job) start() {
	plan, err := j.l.pods.plan(j.e.key, j.e.key.Name, j.spec.Template.Spec)
	if j.waiting = fault.Is(err, fault.NotFound); j.waiting {
		j.l.table.reportProblemOnce(j.e, err)
		return
	}
	if err != nil {
		j.block(err)
		return
	}
	ctx, cancel := context.WithCancel(j.l.ctx)
	j.cancel, j.running = cancel, true
	began := time.Now()
	j.report(began, jobState{active: 1})
	j.l.table.reconcileAll()
	j.l.runners.Go(func() {
		defer cancel()
		end := j.run(ctx, plan, began)
		j.l.post(func() {
			j.l.pods.give(j.e.key, plan)
			j.running = false
			if !j.over {
				j.over = true
				j.report(began, end)
				j.l.table.emit(Event{Type: JobEnded, Object: j.e.key, Message: end.message, Failed: end.reason != ""})
				j.l.table.reconcileAll()
			}
			j.finish()
		})
	})
}

// A jobState is the state of a Job.
type jobState struct {
	active, succeeded, failed int
	reason                    string // why it has failed finally, or ""
	message                   string
}

// run makes attempts until one succeeds or no more are allowed.
func (j *job) run(ctx context.Context, plan *pod.Plan, began time.Time) jobState {
	if s := j.spec.ActiveDeadlineSeconds; s != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, began.Add(time.Duration(*s)*time.Second))
		defer cancel()
	}
	watch := podWatcher{l: j.l, owner: j.e.key, pod: plan.Name, ready: func(bool, string) {}}
	wait := firstRetry
	for failed := 0; ; {
		res := j.l.pods.machine.Complete(ctx, plan, watch)
		if res.OK {
			return jobState{succeeded: 1, failed: failed, message: "completed"}
		}
		if ctx.Err() != nil {
			return jobState{failed: failed + 1, reason: "DeadlineExceeded", message: "it ran longer than its activeDeadlineSeconds allow"}
		}
		switch j.spec.judge(res) {
		case failJob:
			return jobState{failed: failed + 1, reason: "PodFailurePolicy", message: res.Message}
		case ignore:
		default:
			failed++
		}
		if failed > j.spec.backoffLimit() {
			return jobState{failed: failed, reason: "BackoffLimitExceeded", message: fmt.Sprintf("gave up after %d attempts: %s", failed, res.Message)}
		}
		state := jobState{active: 1, failed: failed, message: res.Message}
		again := fmt.Errorf("%s; trying again in %v", res.Message, wait)
		j.l.post(func() {
			j.report(began, state)
			j.l.table.reportProblem(j.e.key, again)
		})
		retry := time.NewTimer(wait)
		select {
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
		}
		wait = min(2*wait, lastRetry)
	}
}

// report writes the status.
func (j *job) report(began time.Time, s jobState) {
	status := map[string]any{"startTime": began.UTC().Format(time.RFC3339)}
	for name, n := range map[string]int{"active": s.active, "ready": s.active, "succeeded": s.succeeded, "failed": s.failed} {
		if n > 0 {
			status[name] = n
		}
	}
	var conditions []Condition
	switch {
	case s.reason != "":
		conditions = append(conditions, Condition{Type: "Failed", Status: True, Reason: s.reason, Message: s.message})
	case s.succeeded > 0:
		conditions = append(conditions, Condition{Type: "Complete", Status: True, Reason: "CompletionsReached", Message: s.message})
	}
	old, _ := fields(j.e.obj["status"])
	if len(conditions) > 0 {
		status["conditions"] = withTransitionTimes(conditions, old["conditions"])
	}
	j.l.table.setStatus(j.e, status)
}

func (j *job) stop(_ stopReason, done func()) {
	j.done = append(j.done, done)
	j.over = true
	if j.cancel != nil {
		j.cancel()
	}
	j.finish()
}

func (j *job) finish() {
	if j.running {
		return
	}
	for _, done := range j.done {
		done()
	}
	j.done = nil
}
