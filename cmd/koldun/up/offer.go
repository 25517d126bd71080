package up

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/aideployment"
	"github.com/gorizond/koldun/internal/local"
)

// An offer is what clients need to know about the endpoint of a served claim.
type offer struct {
	model     string // to ask for; empty: another claim has it
	anonymous bool   // whether requests need no API token
}

// offered returns what a claim offers at its endpoint; false: it has none.
func offered(o local.Object) (offer, bool, error) {
	switch o.Key().Kind {
	case v1.KindModelOrchestra:
		return offeredByStack(o)
	case v1.KindAIDeployment:
		return offeredByDeployment(o)
	case v1.KindIngress:
		var i v1.Ingress
		err := o.Decode(&i)
		return offer{anonymous: i.Spec.Backend.AllowAnonymous}, true, err
	case v1.KindDllama:
		var d v1.Dllama
		err := o.Decode(&d)
		return offer{model: d.Status.Model, anonymous: d.Spec.Expose != nil && d.Spec.Expose.AllowAnonymous}, d.Status.Model != "", err
	}
	return offer{}, false, nil
}

// offeredByStack returns the model of the first application that is ready.
func offeredByStack(o local.Object) (offer, bool, error) {
	var s v1.ModelOrchestra
	if err := o.Decode(&s); err != nil {
		return offer{}, false, err
	}
	for _, a := range s.Status.Applications {
		if a.Ready {
			return offer{model: a.Model, anonymous: s.Spec.AllowAnonymous}, true, nil
		}
	}
	return offer{}, false, nil
}

// offeredByDeployment returns the first model. An engine alone asks for no token.
func offeredByDeployment(o local.Object) (offer, bool, error) {
	var d v1.AIDeployment
	if err := o.Decode(&d); err != nil || len(d.Status.ResolvedModels) == 0 {
		return offer{}, false, err
	}
	anonymous := !aideployment.Queued(d.Spec)
	if g := d.Spec.Gateway; g != nil {
		anonymous = g.AllowAnonymous
	}
	return offer{model: d.Status.ResolvedModels[0].Name, anonymous: anonymous}, true, nil
}
