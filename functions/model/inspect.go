package model

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/memory"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// inspect composes the Job that reads the headers of files in a volume, and the
// ModelArtifact that has its report, which it returns. A Model that is served already goes on
// with what is known of its files: a volume that only one node mounts may be in use.
func (p *volumePlan) inspect(via managed.Via, keys credentials) (found artifact, next compose.Next, err error) {
	if !converts(p.m.Spec) {
		p.status.Artifact = &p.files
		return found, compose.Continue, nil
	}
	j, err := p.inspectJob(keys)
	if err != nil {
		return found, compose.Stop, err
	}
	var seen batchv1.Job
	known := p.Observed(j.Key, &seen)
	served := p.Exists(resRecord)
	done := known && seen.Status.Succeeded > 0
	found = p.artifact(resInspected, volumeURL(p.m, p.files))
	if err := p.desire(via, found, v1alpha1.ModelArtifactParameters{
		URL: volumeURL(p.m, p.files), ProgressKey: p.inspectionKey(), Verify: verify(p.m),
	}, served); err != nil {
		return found, compose.Stop, err
	}
	if keys.due.Any() && !known && !served && !found.Whole {
		p.FailIf(keys.due.Reason, keys.due.Message)
		return found, compose.Stop, nil
	}
	if !found.Whole {
		if err := p.Desire(j.Key, j.Job, compose.Readiness(served || done)); err != nil {
			return found, compose.Stop, err
		}
		pods, err := p.watchPods()
		if err != nil {
			return found, compose.Stop, err
		}
		message, gaveUp := job.Failure(seen)
		switch {
		case known && gaveUp:
			why := job.Cause(message, reason.InspectionFailed)
			if reason.Final(string(pods.Reason)) {
				why = pods.Reason
			}
			p.Fail(why, "Job %q, which reads the headers of the files, gave up: %s", j.Name, cmp.Or(pods.Message, message))
		case !done && !served:
			p.FailIf(pods.Reason, pods.Message)
			p.Fail(reason.Inspecting, "Job %q reads the headers of the files in PersistentVolumeClaim %q", j.Name, p.m.Spec.PreConvertedPVCName)
		case !served:
			// The Job has written its report. Without it, pods would start with another
			// plan than they have a moment later.
			p.Fail(reason.Inspecting, "Job %q has read the headers of the files in PersistentVolumeClaim %q, and its report is not here yet",
				j.Name, p.m.Spec.PreConvertedPVCName)
		}
		if p.Failed() && !served {
			return found, compose.Stop, nil
		}
	}
	p.status.Artifact, p.status.Shape = &p.files, p.files.Shape
	return found, compose.Continue, nil
}

func (p *volumePlan) inspectJob(keys credentials) (job.Job, error) {
	const folder = "files"
	args := []string{
		"inspect", names.DirRef(folder), "--model=" + p.files.ModelFile, "--tokenizer=" + p.files.TokenizerFile,
		"--progress-key=" + p.inspectionKey(),
	}
	if weights := WeightsInVolume(p.m.Spec.Conversion); weights != "" {
		args = append(args, "--weights="+weights)
	}
	return p.job(resInspect, workload.Container{
		Args: args, Secrets: []string{busSecret(p.m)}, Login: keys.logins.Of(resInspect), Memory: memory.Convert(), Request: memory.Convert(),
	}, map[string]workload.Claim{folder: {Name: p.m.Spec.PreConvertedPVCName, ReadOnly: true}})
}

// volumeURL stands for files in a volume. They stay the same ones when they are read again.
func volumeURL(m v1.Model, files v1.Artifact) string {
	return names.VolumeURL(m.Spec.PreConvertedPVCName, files.ModelFile)
}

// inspectionKey is the key of the report of one inspection.
func (p *volumePlan) inspectionKey() string {
	what := names.Hash(16, p.m.Spec.PreConvertedPVCName, p.files.ModelFile, p.files.TokenizerFile, WeightsInVolume(p.m.Spec.Conversion), verify(p.m))
	return names.ProgressKey(p.m.Namespace, what, resInspect)
}
