package modeldownload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/modelref"
	"github.com/gorizond/koldun/internal/names"
)

// model composes one model and returns its state.
func (p *downloadPlan) model(m v1.DownloadModel) (v1.DownloadedModel, error) {
	before := p.before(m.Name)
	state := v1.DownloadedModel{Name: m.Name, Path: "/models/" + folder(m), Hash: p.hash(m)}
	ref, err := p.source(m)
	if err != nil {
		return set(state, v1.DownloadFailed, reason.SourceInvalid, "spec.models: %v", err), nil
	}
	if other := p.sharesFolder(m); other != "" {
		return set(state, v1.DownloadFailed, reason.SourceInvalid, "Model %q uses folder %q, or one inside of it, too: give one of them another subPath", other, state.Path), nil
	}
	// Without the volume's id or the token, the hash is not known.
	complete := before.Phase == v1.DownloadCompleted && (before.Hash == state.Hash || p.blocked != nil)
	found, trouble, err := p.revision(m, ref, complete)
	if err != nil {
		return state, err
	}
	if complete {
		state = before
		ref.Revision = before.Commit
		return state, p.keep(m, ref)
	}
	state.Files, state.Bytes, state.Commit = found.Files, found.SizeBytes, found.Commit
	switch {
	case found.Commit == "" && found.Refusal != "":
		return set(state, v1.DownloadFailed, reason.RevisionUnavailable, "%s", trouble), nil
	case found.Commit == "" && p.blocked == nil:
		return set(state, v1.DownloadPending, reason.ResolvingRevision, "%s", trouble), nil
	case found.Commit == "":
		return set(state, v1.DownloadPending, p.blocked.reason, "%s", p.blocked.message), nil
	}
	ref.Revision = found.Commit
	if p.blocked != nil {
		state.JobName = before.JobName
		return set(state, v1.DownloadPending, p.blocked.reason, "%s", p.blocked.message), p.keep(m, ref)
	}
	j, err := p.job(m, ref)
	if err != nil {
		return state, err
	}
	if before.Phase == v1.DownloadFailed && before.JobName == j.Name {
		return before, p.keep(m, ref)
	}
	state.JobName = j.Name
	return p.download(m, j, state)
}

// download composes the Job when its turn has come, and reports what became of it.
func (p *downloadPlan) download(m v1.DownloadModel, j job.Job, state v1.DownloadedModel) (v1.DownloadedModel, error) {
	var seen batchv1.Job
	if !p.Observed(j.Key, &seen) {
		if other := p.writer(m, j.Name); other != "" {
			return set(state, v1.DownloadPending, reason.DownloadPending, "Waiting until Job %q, which writes to the same folder, is gone", other), nil
		}
		if most := int(p.settings().MaxParallel); most > 0 && p.running >= most {
			return set(state, v1.DownloadPending, reason.DownloadPending, "Waiting for other Jobs: spec.settings.maxParallel is %d", most), nil
		}
		p.running++
		return set(state, v1.DownloadPending, reason.Downloading, "Job %q starts", j.Name), p.Desire(j.Key, j.Job, compose.NotReady)
	}
	state.FailedAttempts = seen.Status.Failed
	message, gaveUp := job.Failure(seen)
	done := !gaveUp && seen.Status.Succeeded > 0
	switch {
	case gaveUp:
		state = set(state, v1.DownloadFailed, job.Cause(message, reason.DownloadFailed), "Job %q gave up: %s", j.Name, message)
	case done:
		state.CompletedAt = seen.Status.CompletionTime
		state = set(state, v1.DownloadCompleted, reason.Downloaded, "%s holds commit %s", state.Path, state.Commit)
	case seen.Status.Active > 0:
		state = set(state, v1.DownloadRunning, reason.Downloading, "Job %q runs", j.Name)
	default:
		state = set(state, v1.DownloadPending, reason.Downloading, "Job %q starts", j.Name)
	}
	return state, p.Desire(j.Key, j.Job, compose.Readiness(done || gaveUp))
}

// keep desires the Job that exists for a model as it is, under the name that it
// has, if it was made by the same spec. A Job that is finished expires: its
// result is in the status.
func (p *downloadPlan) keep(m v1.DownloadModel, ref modelref.Ref) error {
	j, err := p.job(m, ref)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(p.Resources(stage(m) + "-")) {
		var seen batchv1.Job
		if !p.Observed(key, &seen) || seen.Annotations[annotationSpec] != j.Annotations[annotationSpec] {
			continue
		}
		j.Name = seen.Name
		if finished(seen) && p.recorded(m.Name, seen.Name) {
			p.expire(j.Job)
		}
		return p.Desire(key, j.Job, compose.Readiness(finished(seen)))
	}
	return nil
}

// recorded reports whether the status has the result of a Job.
func (p *downloadPlan) recorded(model, jobName string) bool {
	before := p.before(model)
	return before.JobName == jobName && (before.Phase == v1.DownloadCompleted || before.Phase == v1.DownloadFailed)
}

// writer returns the name of another Job that writes to the model's folder.
func (p *downloadPlan) writer(m v1.DownloadModel, own string) string {
	for _, j := range p.others {
		if j.Labels[labelFolder] == p.labels(m)[labelFolder] && j.Name != own && !finished(*j) {
			return j.Name
		}
	}
	return ""
}

// sharesFolder returns the name of an earlier model whose folder is that of m, or
// one around or inside of it.
func (p *downloadPlan) sharesFolder(m v1.DownloadModel) string {
	mine := folder(m) + "/"
	for _, other := range p.d.Spec.Models {
		if other.Name == m.Name {
			return ""
		}
		if theirs := folder(other) + "/"; strings.HasPrefix(mine, theirs) || strings.HasPrefix(theirs, mine) {
			return other.Name
		}
	}
	return ""
}

// source is the repository with the revision that the spec names.
func (p *downloadPlan) source(m v1.DownloadModel) (modelref.Ref, error) {
	from := "hf://" + m.Name
	if e := strings.TrimSuffix(p.d.Spec.Endpoint, "/"); e != "" {
		from = e + "/" + m.Name
	}
	ref, err := modelref.Parse(from)
	ref.Revision = cmp.Or(m.SHA, m.Revision, "main")
	return ref, err
}

// hash identifies what the spec asks for. Settings of Jobs are not part of it.
func (p *downloadPlan) hash(m v1.DownloadModel) string {
	parts := []string{p.d.Spec.Endpoint, m.Name, cmp.Or(m.SHA, m.Revision), folder(m), p.d.Spec.StoragePVC, p.volumeID, p.nonce, "include"}
	parts = append(append(append(parts, m.Include...), "exclude"), m.Exclude...)
	return names.Hash(16, parts...)
}

// revision composes the HubRevision and returns what was found. Another request to
// reload is another HubRevision, so that branches and tags are resolved again.
func (p *downloadPlan) revision(m v1.DownloadModel, ref modelref.Ref, complete bool) (found v1alpha1.HubRevisionObservation, trouble string, err error) {
	hash := names.Hash(8, ref.String(), p.nonce)
	res := resRevision + "-" + names.Hash(8, m.Name) + "-" + hash
	source := ref
	source.Revision = ""
	want := &v1alpha1.HubRevision{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindHubRevision},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.d.Namespace, Name: names.Object(p.d.Name, resRevision, names.Hash(8, m.Name), hash)},
		Spec: v1alpha1.HubRevisionSpec{
			ManagedResourceSpec: managed.Spec(p.d.Spec.ProviderConfigRef, xpv2.ManagementActionObserve),
			ForProvider:         v1alpha1.HubRevisionParameters{Source: source.String(), Revision: ref.Revision, Include: m.Include, Exclude: m.Exclude},
		},
	}
	if t := p.d.Spec.HFTokenRef; t != nil {
		want.Spec.ForProvider.TokenSecretRef, want.Spec.ForProvider.TokenSecretKey = &xpv2.LocalSecretReference{Name: t.Name}, t.Key
	}
	var seen v1alpha1.HubRevision
	if p.Observed(res, &seen) {
		found = seen.Status.AtProvider
	}
	_, trouble = managed.Ready(p.Call, res)
	trouble = fmt.Sprintf("Revision %q of %s is not resolved: %s", ref.Revision, source, cmp.Or(found.Refusal, trouble, "the hub has not answered yet"))
	return found, trouble, p.Desire(res, want, compose.Readiness(complete || found.Commit != ""))
}

func set(s v1.DownloadedModel, phase string, why reason.Reason, format string, args ...any) v1.DownloadedModel {
	s.Phase, s.Reason, s.Message = phase, string(why), fmt.Sprintf(format, args...)
	return s
}
