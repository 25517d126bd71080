package dllama

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/model"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/engine"
)

// model finds the Model, or composes it, and takes its files.
func (p *dllamaPlan) model() (compose.Next, error) {
	next, err := p.takeModel()
	if err != nil {
		return compose.Stop, err
	}
	p.describeServed()
	if next == compose.Stop {
		return next, nil
	}
	return p.refuseNamesake(), nil
}

// describeServed reports in the status what is served, and on how many nodes.
func (p *dllamaPlan) describeServed() {
	switch {
	case p.modelName == "": // none is given
	case p.aliased():
		p.status.Model = p.d.Namespace + "/" + p.served()
	default:
		p.status.Model = p.modelNamespace + "/" + p.modelName
	}
	p.status.Nodes = p.nodes()
}

func (p *dllamaPlan) takeModel() (compose.Next, error) {
	if inline := p.d.Spec.Model; inline != nil {
		return p.composeModel(*inline)
	}
	ref := p.d.Spec.ModelRef
	if ref == nil && p.engine.Reads == engine.FilesNone {
		p.modelNamespace, p.modelName = p.d.Namespace, p.d.Name
		p.artifact = p.noFiles(v1.Model{})
		return compose.Continue, nil
	}
	if ref == nil {
		p.Fail(reason.ModelNotFound, "Neither spec.model nor spec.modelRef is given")
		return compose.Stop, nil
	}
	p.modelNamespace, p.modelName = cmp.Or(ref.Namespace, p.d.Namespace), ref.Name
	var m v1.Model
	found, known := p.Require(resModel, v1.APIVersion, v1.KindModel, p.modelNamespace, p.modelName, &m)
	if p.asks() && p.Known(resModel) && p.running() {
		p.artifact = p.noFiles(m) // also if it cannot be read
		return compose.Continue, nil
	}
	if known && !found {
		p.failGrant(p.modelNamespace, p.modelName)
		return p.takeServedFiles(), nil
	}
	return p.takeFiles(m, found), nil
}

// composeModel composes the inline Model.
func (p *dllamaPlan) composeModel(spec v1.ModelSpec) (compose.Next, error) {
	p.modelNamespace, p.modelName = p.d.Namespace, p.d.Name
	m, found, trouble := p.ownModel()
	if spec.NATS == nil {
		spec.NATS = p.modelNATS()
	}
	spec.NetworkPolicy = cmp.Or(spec.NetworkPolicy, p.d.Spec.NetworkPolicy)
	spec.Scheduling, spec.ImagePullPolicy = p.pulling(spec.Scheduling), cmp.Or(spec.ImagePullPolicy, p.d.Spec.ImagePullPolicy)
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
		ObjectMeta: metav1.ObjectMeta{Namespace: p.modelNamespace, Name: p.modelName, Annotations: annotations},
		Spec:       spec,
	}
	if err := p.own(resModel).Compose(p.Call, want, spec); err != nil {
		return compose.Stop, err
	}
	if trouble != "" && m.Status.Artifact == nil && p.takeServedFiles() == compose.Stop {
		p.Fail(reason.ModelPending, "Model %q is not ready: %s", p.modelName, trouble)
		return compose.Stop, nil
	}
	return p.takeFiles(m, found), nil
}

// describe returns how the inline Model is to run, as annotations of the Model, or why no
// model can run so. Of an engine that plans no memory there is nothing to say, nor of
// files that are in a volume: no work would be in vain.
func (p *dllamaPlan) describe(spec v1.ModelSpec, found bool) (annotations map[string]string, problem string, err error) {
	if problem := p.checkRequests(); problem != "" || p.d.Spec.Engine.Server != nil || spec.PreConverted && found {
		return nil, problem, nil
	}
	p.artifact = &v1.ServedArtifact{LaunchOptions: spec.LaunchOptions, ReplicaPower: spec.ReplicaPower}
	defer func() { p.artifact = nil }()
	nodes := p.nodes()
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

// modelNATS is the connection of the Ingress that the Dllama composes, if it
// composes one. With it, nothing has to watch Ingresses to find it.
func (p *dllamaPlan) modelNATS() *v1.NATSConnection {
	if p.d.Spec.NATS == nil && p.d.Spec.Expose != nil {
		return &v1.NATSConnection{ProviderConfigRef: connection.Default()}
	}
	return p.d.Spec.NATS
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
			Model:         p.modelNamespace + "/" + p.modelName,
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
			Model:         p.modelNamespace + "/" + p.modelName,
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
		return reason.ModelFailed, fmt.Sprintf("Model %q is not ready: %s: %s", p.modelName, state.Reason, state.Message)
	case reason.Passed(state.Reason):
		return reason.Reason(state.Reason), fmt.Sprintf("Model %q is not ready: %s", p.modelName, state.Message)
	}
	// The Model's progress stays with the Model: each change of it here is one
	// more event for everything above.
	return reason.ModelPending, fmt.Sprintf("Model %q is not ready yet: see its condition Serving", p.modelName)
}

// noFiles stands for the files of a Model whose engine reads none. The topology of the
// engines of another namespace does not apply to the pod that asks them.
func (p *dllamaPlan) noFiles(m v1.Model) *v1.ServedArtifact {
	if p.asks() {
		return &v1.ServedArtifact{Model: p.modelNamespace + "/" + p.modelName}
	}
	return &v1.ServedArtifact{
		Model: p.modelNamespace + "/" + p.modelName, LaunchOptions: m.Spec.LaunchOptions, ReplicaPower: m.Spec.ReplicaPower,
	}
}

// takeServedFiles takes the files that the root serves already, if they are of
// the same Model.
func (p *dllamaPlan) takeServedFiles() compose.Next {
	a := p.d.Status.Artifact
	if a == nil || a.Model != p.modelNamespace+"/"+p.modelName || !p.running() {
		return compose.Stop
	}
	p.artifact = a
	return compose.Continue
}

// nodes is what the Dllama says, else what its Model says, else one.
func (p *dllamaPlan) nodes() int32 {
	r := p.d.Spec.Runtime
	switch {
	case r.Nodes != nil:
		return *r.Nodes
	case r.ReplicaPower != nil:
		return 1 << *r.ReplicaPower
	case p.artifact != nil && p.artifact.ReplicaPower != nil:
		return 1 << *p.artifact.ReplicaPower
	}
	return 1
}

// refuseNamesake refuses a Model of another namespace, or the Dllama's own name,
// if a Model of this namespace has that name: both would be one pool.
func (p *dllamaPlan) refuseNamesake() compose.Next {
	if !p.foreign() && !p.alone() || p.aliased() {
		return compose.Continue
	}
	found, _ := p.Require("namesake", v1.APIVersion, v1.KindModel, p.d.Namespace, p.modelName, &v1.Model{})
	if !found {
		return compose.Continue
	}
	if p.alone() {
		p.Fail(reason.ModelFailed, "A Model %q is in namespace %q, so it cannot be the name of this Dllama's model: name the Model in spec.modelRef, or rename one", p.modelName, p.d.Namespace)
	} else {
		p.Fail(reason.ModelFailed, "spec.modelRef: a Model %q is in namespace %q too, so one of another namespace cannot be served under that name: rename one", p.modelName, p.d.Namespace)
	}
	if p.running() {
		return compose.Continue
	}
	return compose.Stop
}
