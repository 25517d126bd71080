package dllama

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/model"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/engine"
)

// A modelStep finds the Model, or composes it, and takes its files.
type modelStep struct {
	*dllama
	up      upstream
	refused bool // up cannot run the claim
}

// modelFiles are the files of a Model; zero if there is nothing to serve.
type modelFiles struct {
	*v1.ServedArtifact
	waits managed.Pending // of a Model without files, whose header is known; else zero
}

// run reports in the status what is served, and on how many nodes.
func (s modelStep) run() (modelFiles, error) {
	if s.alone() && s.up.standIn(v1.Model{}, true) == nil {
		s.status.Nodes = s.nodes(nil)
		s.Fail(reason.ModelNotFound, "Neither spec.model nor spec.modelRef is given")
		return modelFiles{}, nil
	}
	files, err := s.find()
	if err != nil {
		return modelFiles{}, err
	}
	s.status.Model, s.status.Nodes = s.servedPath(), s.nodes(nil)
	if files.ServedArtifact == nil {
		return modelFiles{}, nil
	}
	s.status.Nodes = s.nodes(files.ReplicaPower)
	if problem := s.namesake(); problem != "" {
		s.Fail(reason.ModelFailed, "%s", problem)
		if !s.running() {
			return modelFiles{}, nil
		}
	}
	return files, nil
}

// find returns the files of the Model; zero if it has said why there are none.
func (s modelStep) find() (modelFiles, error) {
	switch {
	case s.Spec.Model != nil:
		return s.compose(*s.Spec.Model)
	case s.alone():
		return modelFiles{ServedArtifact: s.up.standIn(v1.Model{}, true)}, nil
	}
	var m v1.Model
	of := s.model()
	found, known := s.Require(resModel, v1.APIVersion, v1.KindModel, of.Namespace, of.Name, &m)
	if a := s.up.standIn(m, found); a != nil {
		return modelFiles{ServedArtifact: a}, nil
	}
	if known && !found {
		s.failGrant(of.Namespace, of.Name)
		return modelFiles{ServedArtifact: s.servedFiles()}, nil
	}
	return s.filesOf(m, found), nil
}

// compose composes the inline Model.
func (s modelStep) compose(spec v1.ModelSpec) (modelFiles, error) {
	var m v1.Model
	found, trouble := s.own(resModel).Observe(s.Call, &m)
	if s.refused && !found { // a download or conversion would be for nothing
		s.keepRunning()
		return modelFiles{}, nil
	}
	if spec.NATS == nil {
		spec.NATS = s.natsConnection()
	}
	spec.NetworkPolicy = cmp.Or(spec.NetworkPolicy, s.Spec.NetworkPolicy)
	spec.Scheduling, spec.ImagePullPolicy = s.pulling(spec.Scheduling), cmp.Or(spec.ImagePullPolicy, s.Spec.ImagePullPolicy)
	switch {
	case s.refused:
		spec.Conversion = m.Spec.Conversion
	case s.up.reads() == engine.FilesSource && !converts(spec):
		spec.Conversion = &v1.Conversion{Type: conversionNone}
	}
	annotations, problem, err := s.describe(spec, found)
	if err != nil {
		return modelFiles{}, err
	}
	if problem != "" {
		s.Fail(reason.TopologyInvalid, "%s", problem)
		if !found {
			s.keepRunning()
			return modelFiles{}, nil
		}
	}
	if problem != "" || s.refused {
		annotations = described(m) // or else another mistake would start a download that is refused
	}
	want := &v1.Model{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindModel},
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, Annotations: annotations},
		Spec:       spec,
	}
	if err := s.own(resModel).Compose(s.Call, want, spec); err != nil {
		return modelFiles{}, err
	}
	if trouble != "" && m.Status.Artifact == nil && s.servedFiles() == nil {
		s.Fail(reason.ModelPending, "Model %q is not ready: %s", s.Name, trouble)
		return modelFiles{}, nil
	}
	if a := s.up.standIn(m, found); a != nil {
		return modelFiles{ServedArtifact: a}, nil
	}
	return s.filesOf(m, found), nil
}

// describe returns how the inline Model is to run, as annotations of the Model, or why no
// model can run so. Of files that are in a volume there is nothing to say: no work would be
// in vain.
func (s modelStep) describe(spec v1.ModelSpec, found bool) (annotations map[string]string, problem string, err error) {
	if problem := requestAboveLimit(s.Spec.Runtime); problem != "" || spec.PreConverted && found {
		return nil, problem, nil
	}
	return s.up.describe(spec)
}

// described returns how the inline Model was to run before, as annotations of the Model.
func described(m v1.Model) map[string]string {
	value, ok := m.Annotations[v1.AnnotationRuntime]
	if !ok {
		return nil
	}
	return map[string]string{v1.AnnotationRuntime: value}
}

// filesOf takes the files of the Model. While it has none, what is served
// goes on with the files that it is served from.
func (s modelStep) filesOf(m v1.Model, found bool) modelFiles {
	out := v1.ServedArtifact{Model: s.modelPath(), LaunchOptions: m.Spec.LaunchOptions, ReplicaPower: m.Spec.ReplicaPower}
	if a := m.Status.Artifact; a != nil {
		out.Artifact, out.ClaimName = *a, m.Status.OutputPVCName
		return modelFiles{ServedArtifact: &out}
	}
	if served := s.servedFiles(); served != nil {
		return modelFiles{ServedArtifact: served}
	}
	waits := s.pending(m, found)
	if files := announced(m); found && files != nil {
		out.Artifact = *files
		return modelFiles{&out, waits}
	}
	s.Fail(waits.Reason, "%s", waits.Message)
	return modelFiles{}
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
func (s modelStep) pending(m v1.Model, found bool) managed.Pending {
	name := s.model().Name
	state := meta.FindStatusCondition(m.Status.Conditions, v1.ConditionServing)
	switch {
	case !found || state == nil:
	case reason.Final(state.Reason):
		return managed.Pending{Reason: reason.ModelFailed, Message: fmt.Sprintf("Model %q is not ready: %s: %s", name, state.Reason, state.Message)}
	case reason.Passed(state.Reason):
		return managed.Pending{Reason: reason.Reason(state.Reason), Message: fmt.Sprintf("Model %q is not ready: %s", name, state.Message)}
	}
	// The Model's progress stays with the Model: each change of it here is one
	// more event for everything above.
	return managed.Pending{Reason: reason.ModelPending, Message: fmt.Sprintf("Model %q is not ready yet: see its condition Serving", name)}
}

// servedFiles are the files that the root serves already, if they are of the same Model;
// else nil.
func (s modelStep) servedFiles() *v1.ServedArtifact {
	if a := s.Status.Artifact; a != nil && a.Model == s.modelPath() && s.running() {
		return a
	}
	return nil
}

// namesake says why a Model of another namespace, or the Dllama's own name, cannot be
// served: a Model of this namespace has that name, and both would be one pool. It is empty
// if there is none.
func (s modelStep) namesake() string {
	if !s.foreign() && !s.alone() || s.aliased() {
		return ""
	}
	name := s.model().Name
	found, _ := s.Require("namesake", v1.APIVersion, v1.KindModel, s.Namespace, name, &v1.Model{})
	switch {
	case !found:
		return ""
	case s.alone():
		return fmt.Sprintf("A Model %q is in namespace %q, so it cannot be the name of this Dllama's model: name the Model in spec.modelRef, or rename one",
			name, s.Namespace)
	}
	return fmt.Sprintf("spec.modelRef: a Model %q is in namespace %q too, so one of another namespace cannot be served under that name: rename one",
		name, s.Namespace)
}

// converts reports whether a Model says what its files are converted to.
func converts(m v1.ModelSpec) bool {
	c := m.Conversion
	return c != nil && c.Type != conversionNone && (c.Type != "" || c.WeightsFloatType != "" || c.ConvertWeights != "" || c.OutputPath != "" || c.Memory != nil)
}
