package ingress

import (
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	managed "github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/outside"
	"github.com/gorizond/koldun/internal/names"
)

// static is the way of an Ingress whose pools are made by others.
const static = "Static"

// maxSessions bounds what demand can make.
const maxSessions = 128

// tokens has the API tokens of the namespace mirrored. An Ingress that asks
// for none needs none.
func (p *plan) tokens() error {
	if p.i.Spec.Backend.AllowAnonymous {
		return nil
	}
	want := &managed.TokenSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: managed.APIVersion, Kind: managed.KindTokenSet},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.i.Namespace, Name: p.name("tokenset")},
		Spec: managed.TokenSetSpec{
			ManagedResourceSpec: outside.Managed(p.via),
			ForProvider:         managed.TokenSetParameters{Namespace: p.i.Namespace},
		},
	}
	var seen managed.TokenSet
	if p.Observed(resTokens, &seen) {
		p.status.Tokens = seen.Status.AtProvider.Tokens
	}
	ready, _ := outside.Ready(p.Call, resTokens)
	return p.Desire(resTokens, want, ready)
}

// sessions composes a Session for each pool that is asked for.
func (p *plan) sessions() error {
	if p.i.Spec.Backend.Sessions == static {
		return nil
	}
	demanded, err := p.demanded()
	if err != nil {
		return err
	}
	for _, d := range demanded {
		// An Ingress is ready whether or not its pools are.
		if err := p.Desire(sessionPrefix+d.Key, p.session(d), compose.Ready); err != nil {
			return err
		}
		p.status.Sessions++
	}
	return nil
}

// demanded are the pools that Demand lists. Until it has looked, they are
// those that are there.
func (p *plan) demanded() ([]managed.DemandedSession, error) {
	want := &managed.Demand{
		TypeMeta:   metav1.TypeMeta{APIVersion: managed.APIVersion, Kind: managed.KindDemand},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.i.Namespace, Name: p.name("demanded")},
		Spec: managed.DemandSpec{
			ManagedResourceSpec: outside.Managed(p.via, xpv2.ManagementActionObserve),
			ForProvider:         managed.DemandParameters{Namespace: p.i.Namespace, MaxIsolated: max(p.i.Spec.Backend.MaxSessions, 1)},
		},
	}
	ready, _ := outside.Ready(p.Call, resDemand)
	if err := p.Desire(resDemand, want, ready); err != nil {
		return nil, err
	}
	var seen managed.Demand
	var out []managed.DemandedSession
	if bool(ready) && p.Observed(resDemand, &seen) {
		out = seen.Status.AtProvider.Sessions
	} else {
		out = p.there()
	}
	slices.SortFunc(out, func(a, b managed.DemandedSession) int { return strings.Compare(a.Key, b.Key) })
	return out[:min(len(out), maxSessions)], nil
}

// there are the pools that were composed before.
func (p *plan) there() []managed.DemandedSession {
	var out []managed.DemandedSession
	for res := range p.Resources(sessionPrefix) {
		var s v1.Session
		if p.Observed(res, &s) && s.Spec.Key != "" {
			out = append(out, managed.DemandedSession{Key: s.Spec.Key, Model: s.Spec.ModelRef.Name})
		}
	}
	return out
}

// session is a pool for one key. A hash of the key keeps names apart.
func (p *plan) session(d managed.DemandedSession) *v1.Session {
	b := p.i.Spec.Backend
	s := &v1.Session{
		TypeMeta: metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindSession},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.i.Namespace,
			Name:      names.Join(maxSessionName, p.i.Name, d.Model, names.Hash(8, p.i.Name, d.Key)),
			Labels:    map[string]string{v1.LabelIngress: names.Join(names.MaxLabel, p.i.Name)},
		},
		Spec: v1.SessionSpec{ModelRef: v1.ModelReference{Name: d.Model}, Key: d.Key, Runtime: b.Runtime},
	}
	// 0 is the Model's own number.
	if n := s.Spec.ReplicaPower; n != nil && *n == 0 {
		s.Spec.ReplicaPower = nil
	}
	if b.SessionScaling != nil {
		s.Spec.Scaling = *b.SessionScaling
	}
	if p.via != nil {
		s.Spec.NATS = &v1.NATSConnection{ProviderConfigRef: p.via}
	}
	return s
}

// maxSessionName leaves room for what a Session appends.
const maxSessionName = 45
