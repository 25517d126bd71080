package model

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/grant"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/internal/names"
)

// Bounds of the tokens that one Model registers. A namespace needs one for each claim
// that asks for the Model; each has a share of the gateway's of its own.
const (
	maxGuestsOfNamespace = 4
	maxGuests            = 256
)

// lookForGuests is how often Tokens of other namespaces are looked for: Crossplane does
// not watch them.
const lookForGuests = 20 * time.Second

// guests registers the tokens of the claims in other namespaces that ask the gateway of
// this one for the Model, while the Model allows it. A token stays in its own namespace;
// its hash is what is registered here, for this Model only.
func (p *modelPlan) guests() (compose.Next, error) {
	if len(p.m.Spec.AllowedNamespaces) == 0 {
		return compose.Continue, nil
	}
	p.Within(lookForGuests)
	var found []*v1alpha1.Token
	p.RequireAll("guests", v1alpha1.APIVersion, v1alpha1.KindToken, "", grant.Labels(p.m.Namespace, p.m.Name), func() any {
		t := &v1alpha1.Token{}
		found = append(found, t)
		return t
	})
	for _, g := range p.admitted(found) {
		if err := p.Desire("guest-"+names.Hash(8, g.Namespace, g.Name), p.guest(g), compose.Ready); err != nil {
			return compose.Stop, err
		}
	}
	return compose.Continue, nil
}

// grantedKey matches the keys of Tokens that are for the gateways of other namespaces.
var grantedKey = regexp.MustCompile("^" + regexp.QuoteMeta(grant.TokenPrefix) + "[0-9a-f]{64}$")

// admitted returns the Tokens whose namespaces may use the Model and that have a hash.
func (p *modelPlan) admitted(found []*v1alpha1.Token) []*v1alpha1.Token {
	slices.SortFunc(found, func(a, b *v1alpha1.Token) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	var out []*v1alpha1.Token
	of := map[string]int{}
	for _, t := range found {
		switch {
		case t.Namespace == p.m.Namespace, !grant.Allows(p.m, t.Namespace), !grantedKey.MatchString(t.Status.AtProvider.Key):
		case len(out) == maxGuests, of[t.Namespace] == maxGuestsOfNamespace:
		default:
			of[t.Namespace]++
			out = append(out, t)
		}
	}
	return out
}

// guest is the entry of another namespace's token in the registry of this one.
func (p *modelPlan) guest(of *v1alpha1.Token) *v1alpha1.Token {
	return &v1alpha1.Token{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindToken},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.m.Namespace, Name: names.Object(p.m.Name, "guest", names.Hash(8, of.Namespace, of.Name))},
		Spec: v1alpha1.TokenSpec{
			ManagedResourceSpec: managed.Spec(p.via),
			ForProvider: v1alpha1.TokenParameters{
				SHA256:   strings.TrimPrefix(of.Status.AtProvider.Key, grant.TokenPrefix),
				Models:   []string{p.m.Namespace + "/" + p.m.Name},
				Metadata: map[string]string{"namespace": of.Namespace, "token": of.Name},
			},
		},
	}
}
