package model

import (
	"cmp"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/bytesize"
	"github.com/gorizond/koldun/internal/names"
)

// preConverted takes the files that are in a volume already. Only the claim says
// something of them.
func (p *modelPlan) preConverted() (compose.Next, error) {
	s := p.m.Spec
	p.status.DownloadJobState, p.status.ConversionJobState = jobNotRequested, jobNotRequested
	p.status.OutputPVCName = s.PreConvertedPVCName
	for _, c := range []string{v1.ConditionDownloaded, v1.ConditionConverted} {
		p.True(c, reason.PreConverted, "The files are in PersistentVolumeClaim %q", s.PreConvertedPVCName)
	}
	if s.PreConvertedSizeBytes > 0 {
		p.True(v1.ConditionSized, reason.SizeKnown, "%s", p.preConvertedSize())
	} else {
		p.False(v1.ConditionSized, reason.SizeUnknown, "spec.preConvertedSizeBytes is not given")
	}
	model, tokenizer := workload.Option(s.LaunchOptions, "--model"), workload.Option(s.LaunchOptions, "--tokenizer")
	if !p.converts() {
		p.weights = ""
		p.status.Artifact = &v1.Artifact{ModelFile: inVolume(model, ""), SizeBytes: s.PreConvertedSizeBytes, Size: p.preConvertedSize()}
		return compose.Continue, nil
	}
	p.status.Artifact = &v1.Artifact{
		ModelFile:     inVolume(model, names.ModelFile(p.m.Name, p.weights)),
		TokenizerFile: inVolume(tokenizer, names.TokenizerFile(p.m.Name)),
		Weights:       p.weights,
		SizeBytes:     s.PreConvertedSizeBytes,
		Size:          p.preConvertedSize(),
	}
	return compose.Continue, nil
}

func (p *modelPlan) preConvertedSize() string {
	return cmp.Or(p.m.Spec.PreConvertedSizeHuman, bytesize.Format(p.m.Spec.PreConvertedSizeBytes))
}

// inVolume is a path below the folder at which the volume is mounted.
func inVolume(path, otherwise string) string {
	path = strings.TrimPrefix(path, "/model/")
	return cmp.Or(path, otherwise)
}
