package dllama

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/model"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/engine"
)

// findModel finds the Model, or composes it, and takes its files.
func (p *dllamaPlan) findModel() (compose.Next, error) {
	if p.alone() && p.engine.Reads != engine.FilesNone {
		p.status.Nodes = p.nodes(nil)
		p.Fail(reason.ModelNotFound, "Neither spec.model nor spec.modelRef is given")
		return compose.Stop, nil
	}
	next, err := p.takeModel()
	if err != nil {
		return compose.Stop, err
	}
	p.status.Model, p.status.Nodes = p.servedPath(), p.nodes(nil)
	if p.artifact != nil {
		p.status.Nodes = p.nodes(p.artifact.ReplicaPower)
	}
	if next == compose.Stop {
		return next, nil
	}
	return p.refuseNamesake(), nil
}

func (p *dllamaPlan) takeModel() (compose.Next, error) {
	if inline := p.Spec.Model; inline != nil {
		return p.composeModel(*inline)
	}
	if p.alone() {
		p.artifact = p.noFiles(v1.Model{})
		return compose.Continue, nil
	}
	var m v1.Model
	found, known := p.Require(resModel, v1.APIVersion, v1.KindModel, p.model().Namespace, p.model().Name, &m)
	if p.asks() && p.Known(resModel) && p.running() {
		p.artifact = p.noFiles(m) // also if it cannot be read
		return compose.Continue, nil
	}
	if known && !found {
		p.failGrant(p.model().Namespace, p.model().Name)
		return p.takeServedFiles(), nil
	}
	return p.takeFiles(m, found), nil
}

// composeModel composes the inline Model.
func (p *dllamaPlan) composeModel(spec v1.ModelSpec) (compose.Next, error) {
	var m v1.Model
	found, trouble := p.own(resModel).Observe(p.Call, &m)
	if spec.NATS == nil {
		spec.NATS = p.natsConnection()
	}
	spec.NetworkPolicy = cmp.Or(spec.NetworkPolicy, p.Spec.NetworkPolicy)
	spec.Scheduling, spec.ImagePullPolicy = p.pulling(spec.Scheduling), cmp.Or(spec.ImagePullPolicy, p.Spec.ImagePullPolicy)
	switch {
	case p.refused && !found:
		return p.keepRunning(), nil // a download or conversion would be for nothing
	case p.refused:
		spec.Conversion = m.Spec.Conversion
	case p.engine.Reads == engine.FilesSource && !converts(spec):
		spec.Conversion = &v1.Conversion{Type: conversionNone}
	}
	annotations, problem, err := p.describe(spec, found)
	if err != nil {
		return compose.Stop, err
	}
	if problem != "" {
		p.Fail(reason.TopologyInvalid, "%s", problem)
		if !found {
			return p.keepRunning(), nil
		}
	}
	if problem != "" || p.refused {
		annotations = said(m) // or else another mistake would start a download that is refused
	}
	want := &v1.Model{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindModel},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.model().Namespace, Name: p.model().Name, Annotations: annotations},
		Spec:       spec,
	}
	if err := p.own(resModel).Compose(p.Call, want, spec); err != nil {
		return compose.Stop, err
	}
	if trouble != "" && m.Status.Artifact == nil && p.takeServedFiles() == compose.Stop {
		p.Fail(reason.ModelPending, "Model %q is not ready: %s", p.model().Name, trouble)
		return compose.Stop, nil
	}
	return p.takeFiles(m, found), nil
}

// describe returns how the inline Model is to run, as annotations of the Model, or why no
// model can run so. Of an engine that plans no memory there is nothing to say, nor of
// files that are in a volume: no work would be in vain.
func (p *dllamaPlan) describe(spec v1.ModelSpec, found bool) (annotations map[string]string, problem string, err error) {
	if problem := p.checkRequests(); problem != "" || p.Spec.Engine.Server != nil || spec.PreConverted && found {
		return nil, problem, nil
	}
	p.artifact = &v1.ServedArtifact{LaunchOptions: spec.LaunchOptions, ReplicaPower: spec.ReplicaPower}
	defer func() { p.artifact = nil }()
	nodes := p.nodes(spec.ReplicaPower)
	if problem := p.chooseEngine(nodes); problem != "" || p.engine.Memory == nil {
		return nil, problem, nil
	}
	runtime := p.runtime(nodes, p.asked())
	if spec.PreConverted {
		return nil, runtime.TooSmall(spec.PreConvertedSizeBytes), nil
	}
	runtime.Buffers = p.bufferType()
	value, err := runtime.Annotation()
	return map[string]string{v1.AnnotationRuntime: value}, "", err
}

// said returns how the inline Model was to run before, as annotations of the Model.
func said(m v1.Model) map[string]string {
	value, ok := m.Annotations[v1.AnnotationRuntime]
	if !ok {
		return nil
	}
	return map[string]string{v1.AnnotationRuntime: value}
}

// takeFiles takes the files of the Model. While it has none, what is served
// goes on with the files that it is served from.
func (p *dllamaPlan) takeFiles(m v1.Model, found bool) compose.Next {
	if found && p.engine.Reads == engine.FilesNone {
		p.artifact = p.noFiles(m)
		return compose.Continue
	}
	if a := m.Status.Artifact; a != nil {
		p.artifact = &v1.ServedArtifact{
			Artifact:      *a,
			Model:         p.modelPath(),
			ClaimName:     m.Status.OutputPVCName,
			LaunchOptions: m.Spec.LaunchOptions,
			ReplicaPower:  m.Spec.ReplicaPower,
		}
		return compose.Continue
	}
	if p.takeServedFiles() == compose.Continue {
		return compose.Continue
	}
	why, message := p.pending(m, found)
	if files := announced(m); found && files != nil {
		p.artifact = &v1.ServedArtifact{
			Artifact:      *files,
			Model:         p.modelPath(),
			LaunchOptions: m.Spec.LaunchOptions,
			ReplicaPower:  m.Spec.ReplicaPower,
		}
		p.waits, p.waitsFor = why, message
		return compose.Continue // to the preflight
	}
	p.Fail(why, "%s", message)
	return compose.Stop
}

// announced is what is known of the files of a Model before they are there, or before
// their headers have been read; nil if nothing is.
func announced(m v1.Model) *v1.Artifact {
	c := m.Spec.Conversion
	switch header := m.Status.Shape; {
	case header != nil:
		return &v1.Artifact{Weights: header.Weights, Shape: header}
	case m.Spec.PreConverted && (c == nil || c.Type != conversionNone):
		return &v1.Artifact{Weights: model.WeightsInVolume(c), SizeBytes: m.Spec.PreConvertedSizeBytes}
	}
	return nil
}

// pending says what a Model without files waits for.
func (p *dllamaPlan) pending(m v1.Model, found bool) (why reason.Reason, message string) {
	state := meta.FindStatusCondition(m.Status.Conditions, v1.ConditionServing)
	switch {
	case !found || state == nil:
	case reason.Final(state.Reason):
		return reason.ModelFailed, fmt.Sprintf("Model %q is not ready: %s: %s", p.model().Name, state.Reason, state.Message)
	case reason.Passed(state.Reason):
		return reason.Reason(state.Reason), fmt.Sprintf("Model %q is not ready: %s", p.model().Name, state.Message)
	}
	// The Model's progress stays with the Model: each change of it here is one
	// more event for everything above.
	return reason.ModelPending, fmt.Sprintf("Model %q is not ready yet: see its condition Serving", p.model().Name)
}

// noFiles stands for the files of a Model whose engine reads none. The topology of the
// engines of another namespace does not apply to the pod that asks them.
func (p *dllamaPlan) noFiles(m v1.Model) *v1.ServedArtifact {
	if p.asks() {
		return &v1.ServedArtifact{Model: p.modelPath()}
	}
	return &v1.ServedArtifact{
		Model: p.modelPath(), LaunchOptions: m.Spec.LaunchOptions, ReplicaPower: m.Spec.ReplicaPower,
	}
}

// takeServedFiles takes the files that the root serves already, if they are of
// the same Model.
func (p *dllamaPlan) takeServedFiles() compose.Next {
	a := p.Status.Artifact
	if a == nil || a.Model != p.modelPath() || !p.running() {
		return compose.Stop
	}
	p.artifact = a
	return compose.Continue
}

// refuseNamesake refuses a Model of another namespace, or the Dllama's own name,
// if a Model of this namespace has that name: both would be one pool.
func (p *dllamaPlan) refuseNamesake() compose.Next {
	if !p.foreign() && !p.alone() || p.aliased() {
		return compose.Continue
	}
	found, _ := p.Require("namesake", v1.APIVersion, v1.KindModel, p.Namespace, p.model().Name, &v1.Model{})
	if !found {
		return compose.Continue
	}
	if p.alone() {
		p.Fail(reason.ModelFailed, "A Model %q is in namespace %q, so it cannot be the name of this Dllama's model: name the Model in spec.modelRef, or rename one", p.model().Name, p.Namespace)
	} else {
		p.Fail(reason.ModelFailed, "spec.modelRef: a Model %q is in namespace %q too, so one of another namespace cannot be served under that name: rename one", p.model().Name, p.Namespace)
	}
	if p.running() {
		return compose.Continue
	}
	return compose.Stop
}
