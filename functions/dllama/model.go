package dllama

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/reason"
)

// Ways in which a root gets the model's files.
const (
	deliveryFetch = "fetch"
	deliveryPVC   = "pvc"
	deliveryCSI   = "csi"
)

// model finds the Model, or composes it.
func (p *plan) model() (blocked bool, err error) {
	var m v1.Model
	if inline := p.d.Spec.Model; inline != nil {
		p.modelNamespace, p.modelName = p.d.Namespace, p.d.Name
		found := p.Observed(resModel, &m)
		spec := *inline
		if spec.NATS == nil {
			spec.NATS = p.modelNATS()
		}
		want := &v1.Model{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindModel},
			ObjectMeta: metav1.ObjectMeta{Namespace: p.modelNamespace, Name: p.modelName},
			Spec:       spec,
		}
		ready := found && serving(m.Status.Conditions).Status == metav1.ConditionTrue
		if err := p.Desire(resModel, want, compose.Readiness(ready)); err != nil {
			return false, err
		}
		return p.judge(m, found), nil
	}
	ref := p.d.Spec.ModelRef
	if ref == nil {
		p.fail(reason.ModelNotFound, "Neither spec.model nor spec.modelRef is given")
		return true, nil
	}
	p.modelNamespace, p.modelName = ref.Namespace, ref.Name
	if p.modelNamespace == "" {
		p.modelNamespace = p.d.Namespace
	}
	found, known := p.Require(resModel, v1.APIVersion, v1.KindModel, p.modelNamespace, p.modelName, &m)
	if known && !found {
		p.fail(reason.ModelNotFound, "spec.modelRef: Model %q does not exist in namespace %q", p.modelName, p.modelNamespace)
		return p.remember(), nil
	}
	return p.judge(m, found), nil
}

// modelNATS is the connection of the Ingress that the Dllama makes, if it makes
// one. Said here, the Model need not watch Ingresses to find it.
func (p *plan) modelNATS() *v1.NATSConnection {
	if p.d.Spec.NATS == nil && p.d.Spec.Expose != nil {
		return &v1.NATSConnection{ProviderConfigRef: connection.Default()}
	}
	return p.d.Spec.NATS
}

// judge waits for the Model. What is served goes on with the files that it is
// served from.
func (p *plan) judge(m v1.Model, found bool) (blocked bool) {
	if a := m.Status.Artifact; a != nil {
		p.artifact = &v1.ServedArtifact{
			Artifact:      *a,
			Model:         p.modelNamespace + "/" + p.modelName,
			ClaimName:     m.Status.OutputPVCName,
			LaunchOptions: m.Spec.LaunchOptions,
			ReplicaPower:  m.Spec.ReplicaPower,
		}
		return false
	}
	if !p.remember() {
		return false
	}
	state := serving(m.Status.Conditions)
	if found && reason.Final(state.Reason) {
		p.fail(reason.ModelFailed, "Model %q is not ready: %s: %s", p.modelName, state.Reason, state.Message)
		return true
	}
	// What the Model says of its progress stays with the Model: each change
	// would be one more for everything above it.
	p.fail(reason.ModelPending, "Model %q is not ready yet: its condition Serving tells more", p.modelName)
	return true
}

// remember takes the files that are served already, if they are of the same
// Model. It reports whether there are none.
func (p *plan) remember() (blocked bool) {
	a := p.d.Status.Artifact
	if a == nil || a.Model != p.modelNamespace+"/"+p.modelName || !p.Exists(resRoot) {
		return true
	}
	p.artifact = a
	return false
}

// deliver decides how the root gets the files.
func (p *plan) deliver() (blocked bool) {
	p.delivery = p.d.Spec.Delivery
	if p.delivery == "" {
		p.delivery = deliveryFetch
		if p.artifact.URL == "" {
			p.delivery = deliveryPVC
		}
	}
	elsewhere := p.foreign()
	switch via := p.artifact.ProviderConfigRef; {
	case p.delivery == deliveryFetch && p.artifact.URL == "":
		p.fail(reason.DeliveryImpossible, "spec.delivery: the files of Model %q are in a volume only: use pvc", p.modelName)
	case p.delivery != deliveryFetch && p.artifact.ClaimName == "":
		p.fail(reason.DeliveryImpossible, "spec.delivery: Model %q offers no volume: give it spec.pv, or use fetch", p.modelName)
	case p.delivery != deliveryFetch && elsewhere:
		p.fail(reason.DeliveryImpossible, "spec.delivery: the volume of Model %q is in namespace %q, and pods mount only those of their own: use fetch", p.modelName, p.modelNamespace)
	case p.delivery == deliveryFetch && elsewhere && via != nil && via.Kind != "ClusterProviderConfig":
		p.fail(reason.DeliveryImpossible, "spec.modelRef: Model %q of namespace %q has an object store of its own: describe it in a ClusterProviderConfig, and name that in the Model", p.modelName, p.modelNamespace)
	default:
		return false
	}
	return true
}
