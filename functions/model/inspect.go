package model

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/memory"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// inspect composes the Job that reads the headers of files in a volume, and the
// ModelArtifact that has its report. A Model that is served already goes on with what is
// known of its files: a volume that only one node mounts may be in use.
func (p *modelPlan) inspect() (compose.Next, error) {
	files := p.volumeFiles
	if !converts(p.m.Spec) {
		p.status.Artifact = &files
		return compose.Continue, nil
	}
	j, err := p.inspectJob(files)
	if err != nil {
		return compose.Stop, err
	}
	var seen batchv1.Job
	known := p.Observed(j.Key, &seen)
	served := p.Exists(resRecord)
	done := known && seen.Status.Succeeded > 0
	found, err := p.observe(p.inspectedKey(files), v1alpha1.ModelArtifactParameters{
		URL: names.VolumeURL(p.m.Spec.PreConvertedPVCName, files.ModelFile), ProgressKey: p.inspectionKey(files), Verify: p.verify(),
	}, served)
	if err != nil {
		return compose.Stop, err
	}
	if p.usersDue.Any() && !known && !served && !found.Whole {
		p.FailIf(p.usersDue.Reason, p.usersDue.Message)
		return compose.Stop, nil
	}
	if !found.Whole {
		if err := p.Desire(j.Key, j.Job, compose.Readiness(served || done)); err != nil {
			return compose.Stop, err
		}
		problem, err := p.watchPods()
		if err != nil {
			return compose.Stop, err
		}
		message, gaveUp := job.Failure(seen)
		switch {
		case known && gaveUp:
			why := job.Cause(message, reason.InspectionFailed)
			if reason.Final(string(problem.Reason)) {
				why = problem.Reason
			}
			p.Fail(why, "Job %q, which reads the headers of the files, gave up: %s", j.Name, cmp.Or(problem.Message, message))
		case !done && !served:
			p.FailIf(problem.Reason, problem.Message)
			p.Fail(reason.Inspecting, "Job %q reads the headers of the files in PersistentVolumeClaim %q", j.Name, p.m.Spec.PreConvertedPVCName)
		case !served:
			// The Job has written its report. Without it, pods would start with another
			// plan than they have a moment later.
			p.Fail(reason.Inspecting, "Job %q has read the headers of the files in PersistentVolumeClaim %q, and its report is not here yet", j.Name, p.m.Spec.PreConvertedPVCName)
		}
		if p.Failed() && !served {
			return compose.Stop, nil
		}
	}
	p.status.Artifact, p.status.Shape = &files, files.Shape
	return compose.Continue, nil
}

func (p *modelPlan) inspectJob(files v1.Artifact) (job.Job, error) {
	const folder = "files"
	args := []string{
		"inspect", names.DirRef(folder), "--model=" + files.ModelFile, "--tokenizer=" + files.TokenizerFile,
		"--progress-key=" + p.inspectionKey(files),
	}
	if weights := WeightsInVolume(p.m.Spec.Conversion); weights != "" {
		args = append(args, "--weights="+weights)
	}
	return p.job(resInspect, workload.Container{Args: args, Secrets: []string{p.busSecret()}, Login: p.logins.Of(resInspect), Memory: memory.Convert(), Request: memory.Convert()},
		map[string]workload.Claim{folder: {Name: p.m.Spec.PreConvertedPVCName, ReadOnly: true}})
}

// inspectedKey names the ModelArtifact of files in a volume. They stay the same ones when
// they are read again.
func (p *modelPlan) inspectedKey(files v1.Artifact) string {
	return p.key(resInspected, names.VolumeURL(p.m.Spec.PreConvertedPVCName, files.ModelFile))
}

// inspectionKey is the key of the report of one inspection.
func (p *modelPlan) inspectionKey(files v1.Artifact) string {
	what := names.Hash(16, p.m.Spec.PreConvertedPVCName, files.ModelFile, files.TokenizerFile, WeightsInVolume(p.m.Spec.Conversion), p.verify())
	return names.ProgressKey(p.m.Namespace, what, resInspect)
}
