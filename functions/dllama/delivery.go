package dllama

import (
	"fmt"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/engine"
)

// Ways in which a root gets the model's files. pvc and csi mount the same
// volume.
const (
	deliveryFetch = "fetch"
	deliveryPVC   = "pvc"
)

// deliver decides how the root gets the files.
func (p *dllamaPlan) deliver() (compose.Next, error) {
	if p.engine.Reads == engine.FilesNone {
		return compose.Continue, nil
	}
	a := p.artifact
	p.delivery = p.Spec.Delivery
	if p.delivery == "" {
		p.delivery = deliveryFetch
		if a.URL == "" {
			p.delivery = deliveryPVC
		}
	}
	if problem := p.undeliverable(); problem != "" {
		p.Fail(reason.DeliveryImpossible, "%s", problem)
		return compose.Stop, nil
	}
	p.status.Artifact = a
	return compose.Continue, nil
}

// undeliverable says why the root cannot get the files; empty if it can.
func (p *dllamaPlan) undeliverable() string {
	a := p.artifact
	if p.delivery != deliveryFetch {
		switch {
		case a.ClaimName == "":
			return fmt.Sprintf("spec.delivery: Model %q offers no volume: give it spec.pv, or use fetch", p.model().Name)
		case p.foreign():
			return fmt.Sprintf("spec.delivery: the volume of Model %q is in namespace %q, and pods mount only those of their own: use fetch", p.model().Name, p.model().Namespace)
		}
		return ""
	}
	switch via := a.ProviderConfigRef; {
	case a.URL == "":
		return fmt.Sprintf("spec.delivery: the files of Model %q are in a volume only: use pvc", p.model().Name)
	case p.foreign() && via != nil && via.Kind != v1alpha1.KindClusterProviderConfig:
		return fmt.Sprintf("spec.modelRef: Model %q of namespace %q has an object store of its own: describe it in a ClusterProviderConfig, and name that in the Model", p.model().Name, p.model().Namespace)
	}
	return ""
}
