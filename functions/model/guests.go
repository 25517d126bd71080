package model

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/grant"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/internal/names"
)

// Bounds of the tokens that one Model registers: one for each claim that asks for it.
// Those of a namespace share limits, as one tenant.
const (
	maxGuestsOfNamespace = 4
	maxGuests            = 256
)

// lookForGuests is the interval at which the Model reads Tokens of other namespaces:
// Crossplane does not watch them.
const lookForGuests = 20 * time.Second

// resGuest is the prefix of the names of the composed Tokens of guests.
const resGuest = "guest-"

// metaNamespace is the key of a guest's namespace in the metadata of its composed Token.
const metaNamespace = "namespace"

// withdraw deletes the Tokens of guests that the Model no longer allows. It runs first, so
// that no mistake in a claim prolongs a grant.
func (p *plan) withdraw() {
	for name := range p.Resources(resGuest) {
		var t v1alpha1.Token
		if !p.Observed(name, &t) || !grant.Allows(p.m, t.Spec.ForProvider.Metadata[metaNamespace]) {
			p.Withdraw(name)
		}
	}
}

// guests registers the tokens of the claims in other namespaces that ask the gateway of
// this one for the Model, while the Model allows it. A token stays in its own namespace;
// its hash is what is registered here, for this Model only.
func (p *plan) guests(via managed.Via) error {
	allowed := p.m.Spec.AllowedNamespaces
	if len(allowed) == 0 {
		return nil
	}
	p.Within(lookForGuests)
	// Only Tokens of allowed namespaces are required: other namespaces could create so
	// many that they exceed the size limit of a request.
	from := map[string]string{} // namespaces by the key of the requirement; "" is all
	for _, namespace := range allowed {
		from["guests-"+namespace] = namespace
	}
	if slices.Contains(allowed, "*") {
		from = map[string]string{"guests": ""}
	}
	var found []*v1alpha1.Token
	for key, namespace := range from {
		p.RequireAll(key, v1alpha1.APIVersion, v1alpha1.KindToken, namespace, grant.Labels(p.m.Namespace, p.m.Name), func() any {
			t := &v1alpha1.Token{}
			found = append(found, t)
			return t
		})
	}
	for _, g := range admitted(p.m, found) {
		// The guest chooses the names of its Tokens: with a short hash it could find one
		// that takes the place of another guest's.
		hash := names.Hash(32, p.m.Name, g.Namespace, g.Name)
		if err := p.Desire(resGuest+hash, guest(p.m, via, resGuest+hash, g), compose.Ready); err != nil {
			return err
		}
	}
	return nil
}

// grantedKey matches the keys of Tokens that are for the gateways of other namespaces.
var grantedKey = regexp.MustCompile("^" + regexp.QuoteMeta(grant.TokenPrefix) + "[0-9a-f]{64}$")

// admitted returns the Tokens whose namespaces may use the Model and that have a hash,
// the oldest ones if there are too many.
func admitted(m v1.Model, found []*v1alpha1.Token) []*v1alpha1.Token {
	slices.SortFunc(found, func(a, b *v1alpha1.Token) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	var out []*v1alpha1.Token
	of := map[string]int{}
	for _, t := range found {
		switch {
		case t.Namespace == m.Namespace, !grant.Allows(m, t.Namespace), !grantedKey.MatchString(t.Status.AtProvider.Key):
		case len(out) == maxGuests, of[t.Namespace] == maxGuestsOfNamespace:
		default:
			of[t.Namespace]++
			out = append(out, t)
		}
	}
	return out
}

// guest is the entry of another namespace's token in the registry of this one.
func guest(m v1.Model, via managed.Via, name string, of *v1alpha1.Token) *v1alpha1.Token {
	return &v1alpha1.Token{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindToken},
		ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: name},
		Spec: v1alpha1.TokenSpec{
			ManagedResourceSpec: managed.Spec(via),
			ForProvider: v1alpha1.TokenParameters{
				SHA256:   strings.TrimPrefix(of.Status.AtProvider.Key, grant.TokenPrefix),
				Tenant:   of.Namespace,
				Models:   []string{m.Namespace + "/" + m.Name},
				Metadata: map[string]string{metaNamespace: of.Namespace, "token": of.Name},
			},
		},
	}
}
