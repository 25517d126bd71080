package dllama

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/grant"
	"github.com/gorizond/koldun/functions/ingress"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/names"
)

// asks reports whether the engine is the gateway of another namespace.
func (p *dllamaPlan) asks() bool { return p.Spec.IngressRef != nil }

// gateway returns the gateway of the other namespace as the server of the sidecar. Running
// pods stay when its Ingress cannot be read.
func (p *dllamaPlan) gateway() (engine.Server, compose.Next) {
	name, namespace := p.Spec.IngressRef.Name, p.model().Namespace
	if !p.foreign() {
		p.Fail(reason.TopologyInvalid, "spec.ingressRef: it is for a Model of another namespace, which spec.modelRef has to name")
		return engine.Server{}, p.keepRunning()
	}
	var i v1.Ingress
	if found, _ := p.Require(resOtherIngress, v1.APIVersion, v1.KindIngress, namespace, name, &i); !found {
		p.Fail(reason.GatewayNotFound, "spec.ingressRef: Ingress %q does not exist in namespace %q", name, namespace)
		return engine.Server{}, p.keepRunning()
	}
	e := p.Spec.Engine
	return engine.Server{
		URL: ingress.ServiceURL(i), Gateway: true, Model: p.modelPath(), Slots: int(e.Slots), Threads: e.Threads,
	}, compose.Continue
}

// token is the API token for that gateway. The provider generates it, and stores its hash
// under a prefix that gateways ignore. The Model finds the Token by its label, and
// registers the hash in its own namespace while it allows this one.
func (p *dllamaPlan) token(via managed.Via) *v1alpha1.Token {
	spec := managed.Spec(via)
	spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: p.tokenSecret()}
	return &v1alpha1.Token{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindToken},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: p.tokenSecret(), Labels: grant.Labels(p.model().Namespace, p.model().Name),
		},
		Spec: v1alpha1.TokenSpec{
			ManagedResourceSpec: spec,
			ForProvider: v1alpha1.TokenParameters{
				Prefix: grant.TokenPrefix, Models: []string{p.modelPath()},
			},
		},
	}
}

// tokenHash distinguishes the Tokens for different Models. A gateway sees the token that it
// is asked with, so a claim that names another Model gets another token.
func (p *dllamaPlan) tokenHash() string { return names.Hash(8, p.model().Namespace, p.model().Name) }

// resToken names the composed Token.
func (p *dllamaPlan) resToken() string { return resToken + "-" + p.tokenHash() }

// tokenSecret names the Token and its Secret.
func (p *dllamaPlan) tokenSecret() string {
	return names.Object(p.Name, "dllama", "token", p.tokenHash())
}
