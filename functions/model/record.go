package model

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/bytesize"
	"github.com/gorizond/koldun/internal/names"
)

// record composes the entry in the registry, and reports the artifact.
func (p *modelPlan) record() (compose.Next, error) {
	p.report()
	params := v1alpha1.ModelRecordParameters{ArtifactURL: p.status.Artifact.URL}
	if p.m.Spec.PreConverted {
		params = v1alpha1.ModelRecordParameters{SizeBytes: p.status.Artifact.SizeBytes, Weights: p.weights}
	}
	params.Namespace, params.Name = p.m.Namespace, p.m.Name
	r := &v1alpha1.ModelRecord{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindModelRecord},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.m.Namespace, Name: names.Object(p.m.Name, "record")},
		Spec:       v1alpha1.ModelRecordSpec{ManagedResourceSpec: managed.Spec(p.via), ForProvider: params},
	}
	ready, trouble := managed.Ready(p.Call, resRecord)
	if err := p.Desire(resRecord, r, ready); err != nil {
		return compose.Stop, err
	}
	if !ready {
		p.Fail(reason.Registering, "The registry does not list the model yet: %s", cmp.Or(trouble, "the entry was written a moment ago"))
		return compose.Stop, nil
	}
	where := p.status.Artifact.URL
	if where == "" {
		where = "PersistentVolumeClaim " + p.status.OutputPVCName
	}
	p.Serve(reason.Available, "%s, %s", where, p.status.Artifact.Size)
	return compose.Continue, nil
}

// report sets the artifact in the status.
func (p *modelPlan) report() {
	found := p.served()
	if p.status.Artifact == nil {
		p.status.Artifact = &v1.Artifact{
			URL:                  p.at.served(),
			Bucket:               p.to.servedBucket(),
			ProviderConfigRef:    p.via,
			TemporaryCredentials: p.storeKeys != (workload.StoreKeys{}),
			Ports:                p.storePorts(),
			ModelFile:            found.ModelFile,
			TokenizerFile:        found.TokenizerFile,
			Weights:              found.Weights,
			SizeBytes:            found.SizeBytes,
			Size:                 bytesize.Format(found.SizeBytes),
			ManifestSHA256:       found.ManifestSHA256,
			Shape:                found.Shape,
		}
	}
	p.status.ConversionSizeBytes, p.status.ConversionSizeHuman = p.status.Artifact.SizeBytes, p.status.Artifact.Size
	p.status.ConversionSizeJobState = jobSucceeded
	p.status.ConversionSizeForceToken = found.Verified
	// The generation at which the size was found, not every later one.
	p.status.ConversionSizeGeneration = p.m.Status.ConversionSizeGeneration
	if before := p.m.Status; before.ConversionSizeGeneration == 0 || before.ConversionSizeBytes != p.status.ConversionSizeBytes || before.ConversionSizeForceToken != found.Verified {
		p.status.ConversionSizeGeneration = p.m.Generation
	}
}
