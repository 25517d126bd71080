package model

import (
	"cmp"
	"path"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/bytesize"
	"github.com/gorizond/koldun/internal/names"
)

// preConverted takes the files that are in a volume already. What the claim says of
// them counts until a Job has read their headers.
func (p *modelPlan) preConverted() (compose.Next, error) {
	s := p.m.Spec
	p.status.DownloadJobState, p.status.ConversionJobState = jobNotRequested, jobNotRequested
	p.status.OutputPVCName = s.PreConvertedPVCName
	for _, c := range []string{v1.ConditionDownloaded, v1.ConditionConverted} {
		p.True(c, reason.PreConverted, "The files are in PersistentVolumeClaim %q", s.PreConvertedPVCName)
	}
	p.volumeFiles = p.filesInVolume()
	if size := p.volumeFiles.SizeBytes; size > 0 {
		p.True(v1.ConditionSized, reason.SizeKnown, "%s", p.volumeFiles.Size)
	} else {
		p.False(v1.ConditionSized, reason.SizeUnknown, "spec.preConvertedSizeBytes is not given, and no Job has read the files yet")
	}
	return compose.Continue, nil
}

// filesInVolume describes the files by the claim and by their headers, as far as those
// have been read. Files that are read again are described as before until then.
func (p *modelPlan) filesInVolume() v1.Artifact {
	s := p.m.Spec
	model, tokenizer := workload.Option(s.LaunchOptions, "--model"), workload.Option(s.LaunchOptions, "--tokenizer")
	out := v1.Artifact{ModelFile: inVolume(model, ""), SizeBytes: s.PreConvertedSizeBytes, Size: p.sizeInVolume(s.PreConvertedSizeBytes)}
	if !converts(p.m.Spec) {
		p.weights = ""
		return out
	}
	out.ModelFile = inVolume(model, names.ModelFile(p.m.Name, p.weights))
	out.TokenizerFile = inVolume(tokenizer, names.TokenizerFile(p.m.Name))
	var seen v1alpha1.ModelArtifact
	if p.Observed(p.inspectedKey(out), &seen) {
		p.converted = seen.Status.AtProvider
	}
	shape, size := p.converted.Shape, p.converted.SizeBytes
	if before := p.m.Status.Artifact; shape == nil && before != nil && p.m.Status.OutputPVCName == s.PreConvertedPVCName &&
		before.ModelFile == out.ModelFile && before.TokenizerFile == out.TokenizerFile {
		shape, size = before.Shape, before.SizeBytes
	}
	if shape != nil {
		out.Shape, p.weights = shape, shape.Weights
		out.SizeBytes = cmp.Or(out.SizeBytes, size)
		out.Size = p.sizeInVolume(out.SizeBytes)
	}
	out.Weights = p.weights
	return out
}

// sizeInVolume is the size for people.
func (p *modelPlan) sizeInVolume(bytes int64) string {
	return cmp.Or(p.m.Spec.PreConvertedSizeHuman, bytesize.Format(bytes))
}

// inVolume is a path below the folder at which the volume is mounted.
func inVolume(file, otherwise string) string {
	if file = strings.TrimPrefix(file, "/model/"); file == "" {
		return otherwise
	}
	return strings.TrimPrefix(path.Clean("/"+file), "/")
}

// WeightsInVolume returns the type of weights that the claim of a preConverted Model
// says; empty if only the header does.
func WeightsInVolume(c *v1.Conversion) string {
	if c == nil {
		return ""
	}
	return cmp.Or(c.ConvertWeights, c.WeightsFloatType)
}
