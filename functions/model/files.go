package model

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/bytesize"
	"github.com/gorizond/koldun/internal/names"
)

// files composes both artifacts and the Job that makes what is missing. A
// finished Job leaves the desired state when its artifact is whole.
func (p *modelPlan) files() (compose.Next, error) {
	var err error
	if p.source, err = p.artifact(resSource, p.at.Source, "fetch"); err != nil {
		return compose.Stop, err
	}
	if !converts(p.m.Spec) {
		return p.sourceFiles()
	}
	if p.converted, err = p.artifact(resConverted, p.at.Converted, "convert"); err != nil {
		return compose.Stop, err
	}
	p.status.ArtifactSizeBytes = p.source.SizeBytes
	p.status.DownloadJobState, p.status.ConversionJobState = jobPending, jobPending
	if !p.looked() {
		p.Fail(reason.ConnectionPending, "The object store is searched for files of commit %s", p.status.Commit)
		return compose.Stop, nil
	}
	switch {
	case p.converted.Whole:
		p.status.DownloadJobState, p.status.ConversionJobState = jobNotRequested, jobSucceeded
		p.True(v1.ConditionDownloaded, reason.DownloadNotNeeded, "The converted files are whole")
		p.True(v1.ConditionConverted, reason.Converted, "%s is whole", p.at.Converted)
		p.reportSize()
		return compose.Continue, nil
	case p.unfit != "" && !p.inWork():
		p.Fail(reason.TopologyInvalid, "Nothing is downloaded or converted, because the model cannot run as Dllama %q says: %s", p.m.Name, p.unfit)
		return compose.Stop, nil
	case p.small != "" && !p.inWork():
		p.Fail(reason.VolumeTooSmall, "Nothing is downloaded or converted: %s", p.small)
		return compose.Stop, nil
	case !p.source.Whole:
		p.False(v1.ConditionSized, reason.SizeUnknown, "The model is not converted yet")
		p.False(v1.ConditionConverted, reason.WaitingForDownload, "The source files are not whole yet")
		return compose.Stop, p.download()
	}
	p.status.DownloadJobState = jobSucceeded
	p.False(v1.ConditionSized, reason.SizeUnknown, "The model is not converted yet")
	p.True(v1.ConditionDownloaded, reason.Downloaded, "%s is whole", p.at.Source)
	job, err := p.convertJob()
	if err != nil {
		return compose.Stop, err
	}
	p.status.ConversionJobName = job.Name
	p.status.ConversionJobState, err = p.stage(job, p.key(resConverted, p.at.Converted), p.converted.Progress, v1.ConditionConverted, reason.Converting, reason.ConversionFailed)
	return compose.Stop, err
}

// sourceFiles makes what is missing of the source files, which are the Model's own.
func (p *modelPlan) sourceFiles() (compose.Next, error) {
	p.status.ArtifactSizeBytes = p.source.SizeBytes
	p.status.DownloadJobState, p.status.ConversionJobState = jobPending, jobNotRequested
	if !p.looked() {
		p.Fail(reason.ConnectionPending, "The object store is searched for files of commit %s", p.status.Commit)
		return compose.Stop, nil
	}
	p.False(v1.ConditionConverted, reason.ConversionNotWanted, "spec.conversion.type is %s", conversionNone)
	if !p.source.Whole && p.small != "" && !p.inWork() {
		p.Fail(reason.VolumeTooSmall, "Nothing is downloaded: %s", p.small)
		return compose.Stop, nil
	}
	if !p.source.Whole {
		p.False(v1.ConditionSized, reason.SizeUnknown, "The source files are not whole yet")
		return compose.Stop, p.download()
	}
	p.status.DownloadJobState = jobSucceeded
	p.True(v1.ConditionDownloaded, reason.Downloaded, "%s is whole", p.at.Source)
	p.reportSize()
	return compose.Continue, nil
}

// download composes the Job that makes the source files.
func (p *modelPlan) download() error {
	job, err := p.fetchJob()
	if err != nil {
		return err
	}
	p.status.DownloadJobName = job.Name
	p.status.DownloadJobState, err = p.stage(job, p.key(resSource, p.at.Source), p.source.Progress, v1.ConditionDownloaded, reason.Downloading, reason.DownloadFailed)
	return err
}

// served is what was found of the files that the Model is for.
func (p *modelPlan) served() v1alpha1.ModelArtifactObservation {
	if converts(p.m.Spec) {
		return p.converted
	}
	return p.source
}

// reportSize sets the condition Sized by the manifest. It is false while a
// verification that was asked for has not ended.
func (p *modelPlan) reportSize() {
	if asked := p.verify(); asked != p.served().Verified {
		p.False(v1.ConditionSized, reason.Verifying, "Sizes and digests are verified again, as annotation %s asks", v1.AnnotationVerify)
		return
	}
	p.True(v1.ConditionSized, reason.SizeKnown, "%s", bytesize.Format(p.served().SizeBytes))
}

// verify is the value for which the files are to be verified.
func (p *modelPlan) verify() string {
	v := p.m.Annotations[v1.AnnotationVerify]
	if len(v) > 253 {
		return names.Hash(64, v)
	}
	return v
}

// artifact composes the ModelArtifact of one stage and returns what was found of
// its files.
func (p *modelPlan) artifact(res, url, stage string) (v1alpha1.ModelArtifactObservation, error) {
	source := p.to.ref
	source.Revision = ""
	params := v1alpha1.ModelArtifactParameters{URL: url, ProgressKey: p.progressKey(url, stage), Source: source.String(), Commit: p.status.Commit}
	if res == resConverted || !converts(p.m.Spec) {
		params.Verify = p.verify()
	}
	// Once the model is converted, the absence of its source makes nothing unready.
	return p.observe(p.key(res, url), params, res == resSource && p.convertedWhole())
}

// observe composes a ModelArtifact and returns what was found of its files. It is ready
// if they are whole, or need not be.
func (p *modelPlan) observe(key string, params v1alpha1.ModelArtifactParameters, spare bool) (v1alpha1.ModelArtifactObservation, error) {
	a := &v1alpha1.ModelArtifact{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindModelArtifact},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.m.Namespace, Name: names.Object(p.m.Name, key)},
		Spec: v1alpha1.ModelArtifactSpec{
			ManagedResourceSpec: managed.Spec(p.via, xpv2.ManagementActionObserve),
			ForProvider:         params,
		},
	}
	var seen v1alpha1.ModelArtifact
	var found v1alpha1.ModelArtifactObservation
	if p.Observed(key, &seen) {
		found = seen.Status.AtProvider
	}
	return found, p.Desire(key, a, compose.Readiness(found.Whole || spare))
}

// key of what is composed for one URL.
func (p *modelPlan) key(res, url string) string { return res + "-" + names.Hash(8, url) }

// looked reports whether the provider has looked for the files: a Job that
// starts before might make files that exist. What an earlier composition
// started goes on.
func (p *modelPlan) looked() bool {
	keys := []string{p.key(resSource, p.at.Source)}
	if converts(p.m.Spec) {
		keys = append(keys, p.key(resConverted, p.at.Converted))
	}
	for _, key := range keys {
		var seen v1alpha1.ModelArtifact
		if !p.Observed(key, &seen) || len(seen.Status.Conditions) == 0 {
			return p.started()
		}
	}
	return true
}

// started reports whether there is a Job of any stage.
func (p *modelPlan) started() bool {
	for _, stage := range []string{resFetch, resConvert} {
		for range p.Resources(stage + "-") {
			return true
		}
	}
	return false
}

// inWork reports whether the Job of the next stage exists. It is not ended for a
// runtime that may be mended while it runs.
func (p *modelPlan) inWork() bool {
	stage := resFetch
	if p.source.Whole {
		stage = resConvert
	}
	for range p.Resources(stage + "-") {
		return true
	}
	return false
}

func (p *modelPlan) convertedWhole() bool {
	var seen v1alpha1.ModelArtifact
	return converts(p.m.Spec) && p.Observed(p.key(resConverted, p.at.Converted), &seen) && seen.Status.AtProvider.Whole
}

func (p *modelPlan) progressKey(url, stage string) string {
	return names.ProgressKey(p.m.Namespace, names.Hash(16, url), stage)
}
