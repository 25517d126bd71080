package model

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// record composes the entry in the registry, and reports the artifact, which was verified as
// asked.
func (p *plan) record(via managed.Via, verified string) error {
	p.reportArtifact(verified)
	params := v1alpha1.ModelRecordParameters{ArtifactURL: p.status.Artifact.URL}
	if p.m.Spec.PreConverted {
		params = v1alpha1.ModelRecordParameters{SizeBytes: p.status.Artifact.SizeBytes, Weights: p.status.Artifact.Weights}
	}
	params.Namespace, params.Name = p.m.Namespace, p.m.Name
	r := &v1alpha1.ModelRecord{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindModelRecord},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.m.Namespace, Name: names.Object(p.m.Name, "record")},
		Spec:       v1alpha1.ModelRecordSpec{ManagedResourceSpec: managed.Spec(via), ForProvider: params},
	}
	ready, trouble := managed.Ready(p.Call, resRecord)
	if err := p.Desire(resRecord, r, ready); err != nil {
		return err
	}
	if !ready {
		p.Fail(reason.Registering, "The registry does not list the model yet: %s", cmp.Or(trouble, "the entry was written a moment ago"))
		return nil
	}
	where := p.status.Artifact.URL
	if where == "" {
		where = "PersistentVolumeClaim " + p.status.OutputPVCName
	}
	p.Serve(reason.Available, "%s, %s", where, p.status.Artifact.Size)
	return nil
}

// reportArtifact sets the fields of the status that repeat the artifact.
func (p *plan) reportArtifact(verified string) {
	size := p.status.Artifact.SizeBytes
	p.status.ConversionSizeBytes, p.status.ConversionSizeHuman = size, p.status.Artifact.Size
	p.status.ConversionSizeJobState = jobSucceeded
	p.status.ConversionSizeForceToken = verified
	// The generation at which the size was found, not every later one.
	p.status.ConversionSizeGeneration = p.m.Status.ConversionSizeGeneration
	if before := p.m.Status; before.ConversionSizeGeneration == 0 || before.ConversionSizeBytes != size || before.ConversionSizeForceToken != verified {
		p.status.ConversionSizeGeneration = p.m.Generation
	}
}
