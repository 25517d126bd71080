package model

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/bytesize"
)

// files are the files of one commit in the object store, as the provider has found them.
type files struct {
	*hubPlan
	commit            string
	at                Location
	keys              credentials
	source, converted artifact
}

// files composes the ModelArtifacts of the source files and of the converted ones.
func (p *hubPlan) files(at Location, commit string, keys credentials) (*files, error) {
	out := &files{hubPlan: p, commit: commit, at: at, keys: keys, source: p.artifact(resSource, at.Source)}
	if at.Converted != "" {
		out.converted = p.artifact(resConverted, at.Converted)
	}
	from := at.Ref
	from.Revision = ""
	params := v1alpha1.ModelArtifactParameters{URL: at.Source, ProgressKey: progressKey(p.m, at.Source, resFetch), Source: from.String(), Commit: commit}
	if at.Converted == "" {
		params.Verify = verify(p.m)
	}
	// Once the model is converted, the absence of its source makes nothing unready.
	err := p.desire(p.via, out.source, params, out.converted.Whole)
	if err == nil && at.Converted != "" {
		params.URL, params.ProgressKey, params.Verify = at.Converted, progressKey(p.m, at.Converted, resConvert), verify(p.m)
		err = p.desire(p.via, out.converted, params, false)
	}
	return out, err
}

// make composes the Job that makes what is missing. A finished Job leaves the desired state
// when its artifact is whole.
func (f *files) make(rev revision) (compose.Next, error) {
	if f.at.Converted == "" {
		return f.makeSource(rev)
	}
	f.status.ArtifactSizeBytes = f.source.SizeBytes
	f.status.DownloadJobState, f.status.ConversionJobState = jobPending, jobPending
	if !f.looked() {
		f.Fail(reason.ConnectionPending, "The object store is searched for files of commit %s", f.commit)
		return compose.Stop, nil
	}
	switch {
	case f.converted.Whole:
		f.status.DownloadJobState, f.status.ConversionJobState = jobNotRequested, jobSucceeded
		f.True(v1.ConditionDownloaded, reason.DownloadNotNeeded, "The converted files are whole")
		f.True(v1.ConditionConverted, reason.Converted, "%s is whole", f.at.Converted)
		f.reportSize()
		return compose.Continue, nil
	case rev.unfit != "" && !f.inWork():
		f.Fail(reason.TopologyInvalid, "Nothing is downloaded or converted, because the model cannot run as Dllama %q says: %s", f.m.Name, rev.unfit)
		return compose.Stop, nil
	case rev.small != "" && !f.inWork():
		f.Fail(reason.VolumeTooSmall, "Nothing is downloaded or converted: %s", rev.small)
		return compose.Stop, nil
	case !f.source.Whole:
		f.False(v1.ConditionSized, reason.SizeUnknown, "The model is not converted yet")
		f.False(v1.ConditionConverted, reason.WaitingForDownload, "The source files are not whole yet")
		return compose.Stop, f.download()
	}
	f.status.DownloadJobState = jobSucceeded
	f.False(v1.ConditionSized, reason.SizeUnknown, "The model is not converted yet")
	f.True(v1.ConditionDownloaded, reason.Downloaded, "%s is whole", f.at.Source)
	job, err := f.convertJob()
	if err != nil {
		return compose.Stop, err
	}
	f.status.ConversionJobName = job.Name
	f.status.ConversionJobState, err = f.stage(job, f.converted, v1.ConditionConverted, reason.Converting, reason.ConversionFailed)
	return compose.Stop, err
}

// makeSource makes what is missing of the source files, which are the Model's own.
func (f *files) makeSource(rev revision) (compose.Next, error) {
	f.status.ArtifactSizeBytes = f.source.SizeBytes
	f.status.DownloadJobState, f.status.ConversionJobState = jobPending, jobNotRequested
	if !f.looked() {
		f.Fail(reason.ConnectionPending, "The object store is searched for files of commit %s", f.commit)
		return compose.Stop, nil
	}
	f.False(v1.ConditionConverted, reason.ConversionNotWanted, "spec.conversion.type is %s", conversionNone)
	if !f.source.Whole && rev.small != "" && !f.inWork() {
		f.Fail(reason.VolumeTooSmall, "Nothing is downloaded: %s", rev.small)
		return compose.Stop, nil
	}
	if !f.source.Whole {
		f.False(v1.ConditionSized, reason.SizeUnknown, "The source files are not whole yet")
		return compose.Stop, f.download()
	}
	f.status.DownloadJobState = jobSucceeded
	f.True(v1.ConditionDownloaded, reason.Downloaded, "%s is whole", f.at.Source)
	f.reportSize()
	return compose.Continue, nil
}

// download composes the Job that makes the source files.
func (f *files) download() error {
	job, err := f.fetchJob()
	if err != nil {
		return err
	}
	f.status.DownloadJobName = job.Name
	f.status.DownloadJobState, err = f.stage(job, f.source, v1.ConditionDownloaded, reason.Downloading, reason.DownloadFailed)
	return err
}

// served is what was found of the files that the Model is for.
func (f *files) served() v1alpha1.ModelArtifactObservation {
	if f.at.Converted != "" {
		return f.converted.ModelArtifactObservation
	}
	return f.source.ModelArtifactObservation
}

// describe returns the files for the status.
func (f *files) describe() *v1.Artifact {
	found := f.served()
	return &v1.Artifact{
		URL:                  f.at.served(),
		Bucket:               f.to.servedBucket(),
		ProviderConfigRef:    f.via,
		TemporaryCredentials: f.keys.storeKeys != (workload.StoreKeys{}),
		Ports:                connection.Ports(f.Call, resBucket(f.to.buckets()[0])),
		ModelFile:            found.ModelFile,
		TokenizerFile:        found.TokenizerFile,
		Weights:              found.Weights,
		SizeBytes:            found.SizeBytes,
		Size:                 bytesize.Format(found.SizeBytes),
		ManifestSHA256:       found.ManifestSHA256,
		Shape:                found.Shape,
	}
}

// reportSize sets the condition Sized by the manifest. It is false while a
// verification that was asked for has not ended.
func (f *files) reportSize() {
	if asked := verify(f.m); asked != f.served().Verified {
		f.False(v1.ConditionSized, reason.Verifying, "Sizes and digests are verified again, as annotation %s asks", v1.AnnotationVerify)
		return
	}
	f.True(v1.ConditionSized, reason.SizeKnown, "%s", bytesize.Format(f.served().SizeBytes))
}

// looked reports whether the provider has looked for the files: a Job that
// starts before might make files that exist. What an earlier composition
// started goes on.
func (f *files) looked() bool {
	return f.source.looked && (f.converted.looked || f.at.Converted == "") || started(f.Call)
}

// inWork reports whether the Job of the next stage exists. It is not ended for a
// runtime that may be mended while it runs.
func (f *files) inWork() bool {
	if f.source.Whole {
		return hasJob(f.Call, resConvert)
	}
	return hasJob(f.Call, resFetch)
}

// started reports whether there is a Job of any stage.
func started(c *compose.Call) bool { return hasJob(c, resFetch) || hasJob(c, resConvert) }

func hasJob(c *compose.Call, stage string) bool {
	for range c.Resources(stage + "-") {
		return true
	}
	return false
}
