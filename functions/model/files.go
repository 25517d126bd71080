package model

import (
	"strconv"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	managed "github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// retries of a Job whose failures may pass: network, hub, store.
const retries = 10

// files composes both artifacts and the Job that makes what is missing. A
// finished Job leaves the desired state when its artifact is whole.
func (p *plan) files() (blocked bool, err error) {
	if p.source, err = p.artifact(resSource, p.sourceURL(), "fetch"); err != nil {
		return false, err
	}
	if p.converted, err = p.artifact(resConverted, p.convertedURL(), "convert"); err != nil {
		return false, err
	}
	switch {
	case p.converted.Whole:
		p.downloaded(reason.DownloadNotNeeded, "The converted files are whole")
		p.True(v1.ConditionConverted, reason.Converted, "%s is whole", p.convertedURL())
		return false, nil
	case !p.source.Whole:
		p.False(v1.ConditionConverted, reason.WaitingForDownload, "The source files are not whole yet")
		return true, p.stage(resFetch, p.fetchJob(), p.source.Progress, v1.ConditionDownloaded, reason.Downloading, reason.DownloadFailed)
	}
	p.downloaded(reason.Downloaded, p.sourceURL()+" is whole")
	return true, p.stage(resConvert, p.convertJob(), p.converted.Progress, v1.ConditionConverted, reason.Converting, reason.ConversionFailed)
}

func (p *plan) downloaded(why reason.Reason, message string) {
	p.True(v1.ConditionDownloaded, why, "%s", message)
}

// artifact composes the files of one stage and returns what was found of them.
func (p *plan) artifact(res, url, stage string) (managed.ModelArtifactObservation, error) {
	name := names.Object(p.m.Name, res, names.Hash(8, url))
	a := &managed.ModelArtifact{
		TypeMeta:   metav1.TypeMeta{APIVersion: managed.APIVersion, Kind: managed.KindModelArtifact},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.m.Namespace, Name: name},
		Spec: managed.ModelArtifactSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{ManagementPolicies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve}},
			ForProvider:         managed.ModelArtifactParameters{URL: url, ProgressKey: p.progressKey(url, stage)},
		},
	}
	var seen managed.ModelArtifact
	var found managed.ModelArtifactObservation
	if p.Observed(res, &seen) && seen.Name == name {
		found = seen.Status.AtProvider
	}
	// The source is a means: once converted, its absence makes nothing unready.
	ready := compose.Readiness(found.Whole || res == resSource && p.convertedWhole())
	return found, p.Desire(res, a, ready)
}

func (p *plan) convertedWhole() bool {
	var seen managed.ModelArtifact
	return p.Observed(resConverted, &seen) && seen.Status.AtProvider.Whole && seen.Spec.ForProvider.URL == p.convertedURL()
}

func (p *plan) progressKey(url, stage string) string {
	return names.ProgressKey(p.m.Namespace, names.Hash(16, url), stage)
}

// stage composes a Job and says in the conditions how it goes.
func (p *plan) stage(res string, job *batchv1.Job, at *managed.Progress, condition string, running, failed reason.Reason) error {
	if err := p.Desire(res, job, compose.NotReady); err != nil {
		return err
	}
	var seen batchv1.Job
	if p.Observed(res, &seen) && seen.Name == job.Name {
		if message, gaveUp := failure(seen); gaveUp {
			p.False(condition, failed, "Job %q gave up: %s", job.Name, message)
			p.False(v1.ConditionServing, failed, "Job %q gave up: %s", job.Name, message)
			return nil
		}
	}
	message := "Job " + strconv.Quote(job.Name) + " runs"
	if at != nil && at.Phase == "Failed" {
		message += ", and tries again after: " + at.Message
	}
	p.False(condition, running, "%s", message)
	p.False(v1.ConditionServing, running, "%s", message)
	return nil
}

// failure is what a Job that gave up says of itself.
func failure(j batchv1.Job) (message string, gaveUp bool) {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobFailed || c.Type == batchv1.JobFailureTarget) && c.Status == corev1.ConditionTrue {
			return c.Message, true
		}
	}
	return "", false
}

func (p *plan) fetchJob() *batchv1.Job {
	ref := p.ref
	ref.Revision = p.commit
	args := []string{"fetch", "--from=" + ref.String(), "--to=" + p.sourceURL(), "--progress-key=" + p.progressKey(p.sourceURL(), "fetch")}
	secrets := map[string]corev1.SecretKeySelector{}
	if d := p.m.Spec.Download; d != nil {
		if d.Concurrency > 0 {
			args = append(args, "--concurrency="+strconv.Itoa(int(d.Concurrency)))
		}
		for _, pattern := range d.Include {
			args = append(args, "--include="+pattern)
		}
		for _, pattern := range d.Exclude {
			args = append(args, "--exclude="+pattern)
		}
	}
	if t := p.tokenSecret(); t != nil {
		secrets[names.EnvHFToken] = corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: t.Name}, Key: "token"}
	}
	return p.job("fetch", args, secrets)
}

func (p *plan) convertJob() *batchv1.Job {
	return p.job("convert", []string{
		"convert", "--from=" + p.sourceURL(), "--to=" + p.convertedURL(),
		"--weights=" + p.weights, "--name=" + p.artifactName(),
		"--progress-key=" + p.progressKey(p.convertedURL(), "convert"),
	}, nil)
}

// job names itself by a hash of its pod template, which no Job can change.
func (p *plan) job(stage string, args []string, secrets map[string]corev1.SecretKeySelector) *batchv1.Job {
	pod := workload.Pod{
		Labels: workload.Labels(stage, "model", p.m.Name),
		Containers: []workload.Container{{
			Name:      stage,
			Image:     p.Image,
			Args:      args,
			Secrets:   []string{p.storeSecret(), p.busSecret()},
			SecretEnv: secrets,
		}},
		GraceSeconds: 30,
	}
	hash := names.Hash(8, append([]string{p.Image, strconv.Itoa(len(secrets))}, args...)...)
	return workload.Job(p.m.Namespace, names.Object(p.m.Name, stage, hash), retries, pod)
}

func (p *plan) tokenSecret() *xpv2.LocalSecretReference {
	if d := p.m.Spec.Download; d != nil && d.HuggingFaceTokenSecretRef != nil {
		return &xpv2.LocalSecretReference{Name: strings.TrimSpace(d.HuggingFaceTokenSecretRef.Name)}
	}
	return nil
}
