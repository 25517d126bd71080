package dllama

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/grant"
	"github.com/gorizond/koldun/functions/ingress"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/names"
)

// An otherGateway is the upstream of a claim that names the Ingress of another namespace: the
// gateway there.
type otherGateway struct {
	claim
	configured engine.Engine
	keeps      bool // what runs goes on, although the Model cannot be decoded
}

// findGateway returns the gateway of the other namespace as the server of the sidecar.
func (d *dllama) findGateway() (s engine.Server, found bool) {
	name, m := d.Spec.IngressRef.Name, d.model()
	if !d.foreign() {
		d.Fail(reason.TopologyInvalid, "spec.ingressRef: it is for a Model of another namespace, which spec.modelRef has to name")
		return s, false
	}
	var i v1.Ingress
	if found, _ := d.Require(resOtherIngress, v1.APIVersion, v1.KindIngress, m.Namespace, name, &i); !found {
		d.Fail(reason.GatewayNotFound, "spec.ingressRef: Ingress %q does not exist in namespace %q", name, m.Namespace)
		return s, false
	}
	e := d.Spec.Engine
	return engine.Server{URL: ingress.ServiceURL(i), Gateway: true, Model: d.modelPath(), Slots: int(e.Slots), Threads: e.Threads}, true
}

func (g otherGateway) reads() engine.Files { return g.configured.Reads }

// standIn has no topology: the one of the engines in the other namespace does not apply to
// the pod that asks them.
func (g otherGateway) standIn(_ v1.Model, found bool) *v1.ServedArtifact {
	if !found && !g.keeps {
		return nil
	}
	return &v1.ServedArtifact{Model: g.modelPath()}
}

func (g otherGateway) describe(v1.ModelSpec) (annotations map[string]string, problem string, err error) {
	return nil, "", nil
}

// engineOn ignores the slots of the claim: the gateway has them already.
func (g otherGateway) engineOn(nodes int32) (e engine.Engine, problem string) {
	return g.sized(g.configured, 0, nodes)
}

// additions have the port of the gateway's pods: its Service may have another one.
func (g otherGateway) additions() additions {
	return additions{apiKey: &v1.SecretKeyReference{Name: g.tokenSecret(), Key: "token"}, ports: []int32{ingress.PortNumber}}
}

func (g otherGateway) registers(via managed.Via) map[string]any {
	return map[string]any{
		resRegistry:                    managed.Registry(via, g.Namespace, g.registryName(), names.TokensBucket),
		resToken + "-" + g.tokenHash(): g.token(via),
	}
}

func (g otherGateway) awaits() string {
	return fmt.Sprintf("the gateway of Ingress %q in namespace %q does not answer, or does not know the token yet", g.Spec.IngressRef.Name, g.model().Namespace)
}

// token is the API token for that gateway. The provider generates it, and stores its hash
// under a prefix that gateways ignore. The Model finds the Token by its label, and
// registers the hash in its own namespace while it allows this one.
func (g otherGateway) token(via managed.Via) *v1alpha1.Token {
	spec := managed.Spec(via)
	spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: g.tokenSecret()}
	m := g.model()
	return &v1alpha1.Token{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindToken},
		ObjectMeta: metav1.ObjectMeta{Namespace: g.Namespace, Name: g.tokenName(), Labels: grant.Labels(m.Namespace, m.Name)},
		Spec: v1alpha1.TokenSpec{
			ManagedResourceSpec: spec,
			ForProvider:         v1alpha1.TokenParameters{Prefix: grant.TokenPrefix, Models: []string{g.modelPath()}},
		},
	}
}

// tokenHash distinguishes the Tokens for different Models. A gateway sees the token that it
// is asked with, so a claim that names another Model gets another token.
func (g otherGateway) tokenHash() string { return names.Hash(8, g.model().Namespace, g.model().Name) }

// tokenName names the Token.
func (g otherGateway) tokenName() string {
	return names.Object(g.Name, "dllama", "token", g.tokenHash())
}

// tokenSecret names the Secret of the Token.
func (g otherGateway) tokenSecret() string {
	return names.Secret(g.Name, "dllama", "token", g.tokenHash())
}
