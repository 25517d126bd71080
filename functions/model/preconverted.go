package model

import (
	"cmp"
	"path"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/bytesize"
	"github.com/gorizond/koldun/internal/names"
)

// A volumePlan composes a Model whose files are in a volume already.
type volumePlan struct {
	*plan
	files v1.Artifact // by the claim and by their headers
}

// filesInVolume describes the files that are in a volume by the claim and by their headers,
// as far as those have been read. Files that are read again are described as before until
// then.
func (p *plan) filesInVolume() v1.Artifact {
	s := p.m.Spec
	human := func(bytes int64) string { return cmp.Or(s.PreConvertedSizeHuman, bytesize.Format(bytes)) }
	model, tokenizer := workload.Option(s.LaunchOptions, "--model"), workload.Option(s.LaunchOptions, "--tokenizer")
	out := v1.Artifact{ModelFile: inVolume(model, ""), SizeBytes: s.PreConvertedSizeBytes, Size: human(s.PreConvertedSizeBytes)}
	if !converts(s) {
		return out
	}
	out.Weights = weightsOf(s.Conversion)
	out.ModelFile = inVolume(model, names.ModelFile(p.m.Name, out.Weights))
	out.TokenizerFile = inVolume(tokenizer, names.TokenizerFile(p.m.Name))
	found := p.artifact(resInspected, volumeURL(p.m, out))
	shape, size := found.Shape, found.SizeBytes
	if before := p.m.Status.Artifact; shape == nil && before != nil && p.m.Status.OutputPVCName == s.PreConvertedPVCName &&
		before.ModelFile == out.ModelFile && before.TokenizerFile == out.TokenizerFile {
		shape, size = before.Shape, before.SizeBytes
	}
	if shape != nil {
		out.Shape, out.Weights = shape, shape.Weights
		out.SizeBytes = cmp.Or(out.SizeBytes, size)
		out.Size = human(out.SizeBytes)
	}
	return out
}

// report reports the files as made. What the claim says of them counts until
// a Job has read their headers.
func (p *volumePlan) report() {
	pvc := p.m.Spec.PreConvertedPVCName
	p.status.DownloadJobState, p.status.ConversionJobState = jobNotRequested, jobNotRequested
	p.status.OutputPVCName = pvc
	for _, c := range []string{v1.ConditionDownloaded, v1.ConditionConverted} {
		p.True(c, reason.PreConverted, "The files are in PersistentVolumeClaim %q", pvc)
	}
	if p.files.SizeBytes > 0 {
		p.True(v1.ConditionSized, reason.SizeKnown, "%s", p.files.Size)
	} else {
		p.False(v1.ConditionSized, reason.SizeUnknown, "spec.preConvertedSizeBytes is not given, and no Job has read the files yet")
	}
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
