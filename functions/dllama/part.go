package dllama

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/internal/names"
)

// direct reports whether the Dllama composes its own Model or Ingress directly: where
// there is no limit of events, and if an earlier version composed it so, because
// composing it in another way would delete it.
func (p *dllamaPlan) direct(res string) bool { return p.Processes || p.Exists(res) }

// partOf is the name of the composed Part of a Model or Ingress.
func partOf(res string) string { return res + "-part" }

// observeOwn decodes the Dllama's own Model or Ingress. found says that it is composed,
// and trouble why it cannot be created or changed.
func (p *dllamaPlan) observeOwn(res string, into any) (found bool, trouble string) {
	if p.direct(res) {
		return p.Observed(res, into), ""
	}
	return managed.ObservePart(p.Call, partOf(res), into)
}

// ownModel returns the Dllama's own Model.
func (p *dllamaPlan) ownModel() (m v1.Model, found bool, trouble string) {
	found, trouble = p.observeOwn(resModel, &m)
	return m, found, trouble
}

// ownIngress returns the Dllama's own Ingress.
func (p *dllamaPlan) ownIngress() (i v1.Ingress, trouble string) {
	_, trouble = p.observeOwn(resIngress, &i)
	return i, trouble
}

// composeOwn composes a Model or Ingress of the Dllama's own name.
func (p *dllamaPlan) composeOwn(res string, want interface {
	runtime.Object
	metav1.Object
}, spec any, conditions []metav1.Condition,
) error {
	if p.direct(res) {
		return p.Desire(res, want, compose.Readiness(meta.IsStatusConditionTrue(conditions, v1.ConditionServing)))
	}
	own := managed.Part{
		Namespace: p.d.Namespace, Kind: want.GetObjectKind().GroupVersionKind().Kind, Name: p.d.Name,
		Annotations: want.GetAnnotations(), Spec: spec,
	}
	return own.Compose(p.Call, partOf(res), names.Object(p.d.Name, "dllama", res))
}

// unchanged says what keeps the Dllama's own Model or Ingress as it was when the claim
// asks for another one, as an addition to a message; empty if nothing does.
func (p *dllamaPlan) unchanged() string {
	out := ""
	if _, _, trouble := p.ownModel(); p.d.Spec.Model != nil && trouble != "" {
		out += fmt.Sprintf(". Model %q stays as it was: %s", p.d.Name, trouble)
	}
	if _, trouble := p.ownIngress(); p.d.Spec.Expose != nil && trouble != "" {
		out += fmt.Sprintf(". Ingress %q stays as it was: %s", p.d.Name, trouble)
	}
	return out
}
