package modeldownload

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/bytesize"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/names"
)

// A download is the composition of one model.
type download struct {
	*downloadPlan
	v1.DownloadModel
	in inputs
}

// compose composes the model and returns its state.
func (m download) compose() (v1.DownloadedModel, error) {
	before := m.before(m.Name)
	state := v1.DownloadedModel{Name: m.Name, Path: "/models/" + folder(m.DownloadModel), Hash: m.hash()}
	ref, err := m.source()
	if err != nil {
		return set(state, v1.DownloadFailed, reason.SourceInvalid, "spec.models: %v", err), nil
	}
	if other := m.sharesFolder(); other != "" {
		return set(state, v1.DownloadFailed, reason.SourceInvalid, "Model %q uses folder %q, or one inside of it, too: give one of them another subPath", other, state.Path), nil
	}
	// Without the volume's id or the token, the hash is not known.
	complete := before.Phase == v1.DownloadCompleted && (before.Hash == state.Hash || m.in.blocked != nil)
	found, trouble, err := m.revision(ref, complete)
	if err != nil {
		return state, err
	}
	if complete {
		return before, m.keep()
	}
	if m.in.blocked != nil {
		return m.wait(before, state), m.keep()
	}
	state.Files, state.Bytes, state.Commit = found.Files, found.SizeBytes, found.Commit
	switch {
	case found.Commit == "" && found.NotAllowed:
		return set(state, v1.DownloadFailed, reason.NotAllowed, "%s", found.Refusal), nil
	case found.Commit == "" && found.Refusal != "":
		return set(state, v1.DownloadFailed, reason.RevisionUnavailable, "%s", trouble), nil
	case found.Commit == "":
		return set(state, v1.DownloadPending, reason.ResolvingRevision, "%s", trouble), m.keep()
	}
	secret := m.hubSecret(m.revisionHash(ref))
	ref.Revision = found.Commit
	j, err := m.job(ref, secret)
	if err != nil {
		return state, err
	}
	return m.composeJob(j, state)
}

// composeJob composes the Job when its turn has come, and reports what became of it.
func (m download) composeJob(j job.Job, state v1.DownloadedModel) (v1.DownloadedModel, error) {
	var seen batchv1.Job
	found := m.Observed(j.Key, &seen)
	if !found {
		if other := m.writer(j.Name); other != "" {
			return set(state, v1.DownloadPending, reason.DownloadPending, "Waiting until Job %q, which writes to the same folder, or to one around or inside of it, is gone", other), nil
		}
		if most := int(m.settings().MaxParallel); most > 0 && m.in.jobs.running >= most {
			return set(state, v1.DownloadPending, reason.DownloadPending, "Waiting for other Jobs: spec.settings.maxParallel is %d", most), nil
		}
		m.in.jobs.running++
	}
	state.JobName = j.Name
	switch {
	case !found:
		state = set(state, v1.DownloadPending, reason.Downloading, "Job %q starts", j.Name)
	case seen.DeletionTimestamp != nil:
		return set(state, v1.DownloadPending, reason.Downloading, "Job %q is being deleted, and starts again then", j.Name), nil
	default:
		state = m.outcome(seen, state)
	}
	if err := m.guard(); err != nil {
		return state, err
	}
	return state, m.Desire(j.Key, j.Job, compose.Readiness(finished(seen)))
}

// guard lets others reach the pods only to see how far they are.
func (p *downloadPlan) guard() error {
	if !workload.Guarded(p.d.Spec.NetworkPolicy) {
		return nil
	}
	out := connection.Egress{Policy: resGuard, Scheduling: p.d.Spec.Scheduling, Ports: workload.EnvOf(p.d.Spec.Env, p.d.Spec.EnvFrom).Ports()}
	for res := range p.Resources(resRevision + "-") {
		var seen v1alpha1.HubRevision
		if p.Observed(res, &seen) && seen.Status.AtProvider.Commit != "" { // without a commit there is no Job
			out.Systems = append(out.Systems, seen.Status.AtProvider.Ports)
		}
	}
	name := names.Object(p.d.Name, "modeldownload", "pods")
	return p.Desire(resGuard, workload.Guard(p.d.Namespace, name, workload.Owner("modeldownload", p.d.Name),
		[]workload.Door{{Port: job.ProgressNumber}}, out.Ways(p.Call)), compose.Ready)
}

// wait is the state of a model while something is missing: that of the Job which
// runs already, if there is one.
func (m download) wait(before, state v1.DownloadedModel) v1.DownloadedModel {
	for key := range m.Resources(stage(m.DownloadModel) + "-") {
		var seen batchv1.Job
		if m.Observed(key, &seen) && seen.Name == before.JobName && seen.DeletionTimestamp == nil {
			return m.outcome(seen, before)
		}
	}
	return set(state, v1.DownloadPending, m.in.blocked.reason, "%s", m.in.blocked.message)
}

// outcome is the state of a model by its Job. A Job that gave up stays until it is
// deleted, so that its absence is a request to start again.
func (m download) outcome(seen batchv1.Job, state v1.DownloadedModel) v1.DownloadedModel {
	before := m.before(state.Name)
	state.FailedAttempts = seen.Status.Failed
	state.DoneBytes, state.Percent, state.ETASeconds = 0, 0, 0
	message, gaveUp := job.Failure(seen)
	problem := m.problemOf(seen.Name)
	runs := seen.Status.Ready != nil && *seen.Status.Ready > 0
	switch {
	case gaveUp && problem.Message == "" && before.Phase == v1.DownloadFailed && before.JobName == seen.Name:
		return set(state, v1.DownloadFailed, reason.Reason(before.Reason), "%s", before.Message) // the pod said more, and is gone
	case gaveUp:
		why := job.Cause(message, reason.DownloadFailed)
		if reason.Final(string(problem.Reason)) {
			why = problem.Reason
		}
		return set(state, v1.DownloadFailed, why, "Job %q gave up: %s; mend the cause, then delete the Job: it starts again", seen.Name, cmp.Or(problem.Message, message))
	case seen.Status.Succeeded > 0:
		state.CompletedAt = seen.Status.CompletionTime
		return set(state, v1.DownloadCompleted, reason.Downloaded, "%s holds commit %s", state.Path, state.Commit)
	case problem.Message != "" && runs:
		return set(state, v1.DownloadRunning, problem.Reason, "%s", problem.Message)
	case problem.Message != "":
		return set(state, v1.DownloadPending, problem.Reason, "%s", problem.Message)
	case runs:
		return m.runs(seen.Name, state)
	}
	return set(state, v1.DownloadPending, reason.Downloading, "Job %q starts", seen.Name)
}

// runs is the state of a model whose Job runs.
func (m download) runs(jobName string, state v1.DownloadedModel) v1.DownloadedModel {
	at := m.in.pods.OfJob(jobName)
	if at.Stage == "" {
		return set(state, v1.DownloadRunning, reason.Downloading, "Job %q runs", jobName)
	}
	state.DoneBytes, state.Percent, state.ETASeconds = at.Bytes, int32(at.Percent), at.ETASeconds
	return set(state, v1.DownloadRunning, reason.Downloading, "Job %q runs: %s of %s, %s", jobName, bytesize.Format(at.Bytes), bytesize.Format(at.Total), at.Text())
}

// problemOf returns the problem of the pods of a Job.
func (m download) problemOf(jobName string) managed.Problem {
	problem := m.in.pods.Problem
	if managed.PodOf(jobName, problem.Pod) || problem.Pod == "" && strings.Contains(problem.Message, strconv.Quote(jobName)) {
		return problem
	}
	return managed.Problem{}
}

// keep desires the Jobs that exist for a model as they were made, whatever the spec
// says now: it may not be known what it asks for. A Job whose success is in the status
// expires. One that is being deleted is not desired, which would make it again.
func (m download) keep() error {
	for _, key := range slices.Sorted(m.Resources(stage(m.DownloadModel) + "-")) {
		var seen batchv1.Job
		if !m.Observed(key, &seen) || seen.DeletionTimestamp != nil {
			continue
		}
		j, ok := made(seen)
		if !ok {
			continue
		}
		if before := m.before(m.Name); finished(seen) && before.Phase == v1.DownloadCompleted && before.JobName == seen.Name {
			m.expire(j)
		}
		if err := m.Desire(key, j, compose.Readiness(finished(seen))); err != nil {
			return err
		}
	}
	return nil
}

// writer returns the name of another Job, of any object, that writes to the model's
// folder, or to one around or inside of it.
func (m download) writer(own string) string {
	for _, j := range m.in.jobs.all {
		if overlap(j.Annotations[annotationFolder], m.place()) && j.Name != own && !finished(*j) {
			return j.Name
		}
	}
	return ""
}

// sharesFolder returns the name of an earlier model whose folder is that of m, or
// one around or inside of it.
func (m download) sharesFolder() string {
	for _, other := range m.d.Spec.Models {
		if other.Name == m.Name {
			return ""
		}
		if overlap(folder(m.DownloadModel), folder(other)) {
			return other.Name
		}
	}
	return ""
}

// overlap reports whether one folder is the other, or inside of it.
func overlap(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

// source is the repository with the revision that the spec names.
func (m download) source() (modelref.Ref, error) {
	from := "hf://" + m.Name
	if e := strings.TrimSuffix(m.d.Spec.Endpoint, "/"); e != "" {
		from = e + "/" + m.Name
	}
	ref, err := modelref.Parse(from)
	ref.Revision = cmp.Or(m.SHA, m.Revision, "main")
	return ref, err
}

// hash identifies what the spec asks for. Settings of Jobs are not part of it.
func (m download) hash() string {
	parts := []string{m.d.Spec.Endpoint, m.Name, cmp.Or(m.SHA, m.Revision), folder(m.DownloadModel), m.d.Spec.StoragePVC, m.in.volumeID, m.in.nonce, "include"}
	parts = append(append(append(parts, m.Include...), "exclude"), m.Exclude...)
	return names.Hash(16, parts...)
}

// revision composes the HubRevision and returns what was found. Another request to
// reload is another HubRevision, so that branches and tags are resolved again.
func (m download) revision(ref modelref.Ref, complete bool) (found v1alpha1.HubRevisionObservation, trouble string, err error) {
	hash := m.revisionHash(ref)
	res := resRevision + "-" + names.Hash(8, m.Name) + "-" + hash
	source := ref
	source.Revision = ""
	want := &v1alpha1.HubRevision{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindHubRevision},
		ObjectMeta: metav1.ObjectMeta{Namespace: m.d.Namespace, Name: names.Object(m.d.Name, resRevision, names.Hash(8, m.Name), hash)},
		Spec: v1alpha1.HubRevisionSpec{
			ManagedResourceSpec: managed.Observed(m.d.Spec.ProviderConfigRef, m.hubSecret(hash)),
			ForProvider:         v1alpha1.HubRevisionParameters{Source: source.String(), Revision: ref.Revision, Include: m.Include, Exclude: m.Exclude},
		},
	}
	if t := m.d.Spec.HFTokenRef; t != nil {
		want.Spec.ForProvider.TokenSecretRef, want.Spec.ForProvider.TokenSecretKey = &xpv2.LocalSecretReference{Name: t.Name}, t.Key
	}
	var seen v1alpha1.HubRevision
	if m.Observed(res, &seen) {
		found = seen.Status.AtProvider
	}
	_, trouble = managed.Ready(m.Call, res)
	trouble = fmt.Sprintf("Revision %q of %s is not resolved: %s", ref.Revision, source, cmp.Or(found.Refusal, trouble, "the hub has not answered yet"))
	return found, trouble, m.Desire(res, want, compose.Readiness(complete || found.Commit != ""))
}

// revisionHash identifies the HubRevision of a source and a request to reload.
func (m download) revisionHash(source modelref.Ref) string {
	return names.Hash(8, source.String(), m.in.nonce)
}

// hubSecret names the Secret with the connection to the hub, which the HubRevision
// with the hash writes.
func (m download) hubSecret(hash string) string {
	return names.Secret(m.d.Name, "hub", names.Hash(8, m.Name), hash)
}

func set(s v1.DownloadedModel, phase string, why reason.Reason, format string, args ...any) v1.DownloadedModel {
	s.Phase, s.Reason, s.Message = phase, string(why), fmt.Sprintf(format, args...)
	return s
}
