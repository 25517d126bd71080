package ingress

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// static is the value of spec.backend.sessions of an Ingress that creates no pools.
const static = "Static"

// tokens composes the TokenSet, which mirrors the API tokens of the namespace.
// An Ingress that admits requests without a token needs none.
func (p *ingressPlan) tokens() (compose.Next, error) {
	if p.i.Spec.Backend.AllowAnonymous {
		return compose.Continue, nil
	}
	want := &v1alpha1.TokenSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindTokenSet},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.i.Namespace, Name: p.name("tokenset")},
		Spec: v1alpha1.TokenSetSpec{
			ManagedResourceSpec: managed.Spec(p.via),
			ForProvider:         v1alpha1.TokenSetParameters{Namespace: p.i.Namespace},
		},
	}
	var seen v1alpha1.TokenSet
	if p.Observed(resTokens, &seen) {
		p.status.Tokens = seen.Status.AtProvider.Tokens
	}
	ready, _ := managed.Ready(p.Call, resTokens)
	return compose.Continue, p.Desire(resTokens, want, ready)
}

// sessions composes the Demand, which keeps a Session for each pool in demand.
// The Ingress does not compose them itself: each change of each one would be an
// event for the Ingress, and Crossplane limits these.
func (p *ingressPlan) sessions() (compose.Next, error) {
	if p.i.Spec.Backend.Sessions == static {
		return compose.Continue, nil
	}
	template, err := p.template()
	if err != nil {
		return compose.Stop, err
	}
	want := &v1alpha1.Demand{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindDemand},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.i.Namespace, Name: p.name("demanded")},
		Spec: v1alpha1.DemandSpec{
			ManagedResourceSpec: managed.Spec(p.via),
			ForProvider: v1alpha1.DemandParameters{
				Namespace: p.i.Namespace, MaxIsolated: max(p.i.Spec.Backend.MaxSessions, 1), Session: template,
			},
		},
	}
	var seen v1alpha1.Demand
	if p.Observed(resDemand, &seen) {
		p.status.Sessions = int32(len(seen.Status.AtProvider.Sessions))
	}
	ready, trouble := managed.Ready(p.Call, resDemand)
	if trouble != "" {
		p.Fail(reason.ConnectionPending, "Composed resource %q is not ready: %s", resDemand, trouble)
	}
	return compose.Continue, p.Desire(resDemand, want, ready)
}

// template of the Sessions. Their model and key are the Demand's to fill in.
func (p *ingressPlan) template() (*v1alpha1.ObjectTemplate, error) {
	b := p.i.Spec.Backend
	s := v1.SessionSpec{Runtime: b.Runtime}
	// 0 is the Model's own number.
	if n := s.ReplicaPower; n != nil && *n == 0 {
		s.ReplicaPower = nil
	}
	if b.SessionScaling != nil {
		s.Scaling = *b.SessionScaling
	}
	if p.via != nil {
		s.NATS = &v1.NATSConnection{ProviderConfigRef: p.via}
	}
	return compose.Template(map[string]string{v1.LabelIngress: names.Join(names.MaxLabel, p.i.Name)}, nil, s, "modelRef")
}
