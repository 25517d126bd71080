package dllama

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
)

// expose composes the Ingress of a Dllama that has an expose block. The Dllama
// itself is the pool, so the Ingress makes none.
func (p *dllamaPlan) expose() (compose.Next, error) {
	e := p.d.Spec.Expose
	if e == nil {
		return compose.Continue, nil
	}
	want := &v1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindIngress},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.d.Namespace, Name: p.d.Name},
		Spec: v1.IngressSpec{
			Backend: v1.Backend{GatewaySettings: e.GatewaySettings, Sessions: "Static"},
			Service: e.Service,
			Route:   e.Route,
		},
	}
	b := &want.Spec.Backend
	b.ImagePullPolicy, b.NetworkPolicy = p.d.Spec.ImagePullPolicy, p.d.Spec.NetworkPolicy
	b.BackendScheduling = p.pulling(b.BackendScheduling)
	if n := p.d.Spec.NATS; n != nil {
		b.NATS = &v1.IngressNATS{URL: n.URL, CredentialsSecret: n.CredentialsSecret, ProviderConfigRef: n.ProviderConfigRef}
	}
	return compose.Continue, p.own(resIngress).Compose(p.Call, want, want.Spec)
}

// pulling returns the scheduling of pods that use the registry of the Dllama's own
// pods: with the same credentials, unless it has others.
func (p *dllamaPlan) pulling(s *v1.Scheduling) *v1.Scheduling {
	own := p.d.Spec.Scheduling
	if own == nil || len(own.ImagePullSecrets) == 0 || s != nil && len(s.ImagePullSecrets) > 0 {
		return s
	}
	out := v1.Scheduling{}
	if s != nil {
		out = *s
	}
	out.ImagePullSecrets = own.ImagePullSecrets
	return &out
}

// exposed reports whether the Ingress serves.
func (p *dllamaPlan) exposed() bool {
	seen, _ := p.ownIngress()
	return meta.IsStatusConditionTrue(seen.Status.Conditions, v1.ConditionServing)
}

// admitted reports whether the queue of the Ingress exists, and the Secret with
// the connection to it.
func (p *dllamaPlan) admitted() bool {
	seen, _ := p.ownIngress()
	return seen.Status.BackendServiceName != ""
}

// gatewayPending returns what the user has to fix. The progress of the Ingress
// stays with the Ingress: each change of it here is one more event for the
// Dllama.
func (p *dllamaPlan) gatewayPending() (why reason.Reason, message string) {
	seen, trouble := p.ownIngress()
	state := meta.FindStatusCondition(seen.Status.Conditions, v1.ConditionServing)
	switch {
	case trouble != "":
		return reason.GatewayStarting, fmt.Sprintf("Ingress %q is not ready: %s", p.d.Name, trouble)
	case state == nil || state.Status != metav1.ConditionFalse:
	case reason.Passed(state.Reason):
		return reason.Reason(state.Reason), fmt.Sprintf("Ingress %q is not ready: %s", p.d.Name, state.Message)
	case reason.Final(state.Reason):
		return reason.GatewayStarting, fmt.Sprintf("Ingress %q is not ready: %s: %s", p.d.Name, state.Reason, state.Message)
	}
	return reason.GatewayStarting, fmt.Sprintf("Ingress %q is not ready yet: see its condition Serving", p.d.Name)
}
