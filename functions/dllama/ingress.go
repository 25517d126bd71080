package dllama

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/reason"
)

// expose composes the Ingress of a Dllama that has an expose block. The Dllama
// itself is the pool, so the Ingress makes none.
func (d *dllama) expose() error {
	e := d.Spec.Expose
	if e == nil {
		return nil
	}
	want := &v1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindIngress},
		ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name},
		Spec: v1.IngressSpec{
			Backend: v1.Backend{GatewaySettings: e.GatewaySettings, Sessions: "Static"},
			Service: e.Service,
			Route:   e.Route,
		},
	}
	b := &want.Spec.Backend
	b.ImagePullPolicy, b.NetworkPolicy = d.Spec.ImagePullPolicy, d.Spec.NetworkPolicy
	b.BackendScheduling = d.pulling(b.BackendScheduling)
	if n := d.Spec.NATS; n != nil {
		b.NATS = &v1.IngressNATS{URL: n.URL, CredentialsSecret: n.CredentialsSecret, ProviderConfigRef: n.ProviderConfigRef}
	}
	return d.own(resIngress).Compose(d.Call, want, want.Spec)
}

// An ownIngress is what is known of the Ingress of a Dllama that has an expose block;
// zero without one.
type ownIngress struct {
	v1.Ingress
	trouble string // why it cannot be created or changed
}

func observeIngress(c *compose.Call, of claim) (out ownIngress) {
	if of.Spec.Expose != nil {
		_, out.trouble = of.own(resIngress).Observe(c, &out.Ingress)
	}
	return out
}

// serves reports whether the Ingress serves.
func (i ownIngress) serves() bool {
	return meta.IsStatusConditionTrue(i.Status.Conditions, v1.ConditionServing)
}

// admitted reports whether the queue of the Ingress exists, and the Secret with
// the connection to it.
func (i ownIngress) admitted() bool { return i.Status.BackendServiceName != "" }

// failIngress reports what the user has to fix. The progress of the Ingress
// stays with the Ingress: each change of it here is one more event for the
// Dllama.
func (d *dllama) failIngress() {
	state := meta.FindStatusCondition(d.ingress.Status.Conditions, v1.ConditionServing)
	why, message := reason.GatewayStarting, fmt.Sprintf("Ingress %q is not ready yet: see its condition Serving", d.Name)
	switch {
	case d.ingress.trouble != "":
		message = fmt.Sprintf("Ingress %q is not ready: %s", d.Name, d.ingress.trouble)
	case state == nil || state.Status != metav1.ConditionFalse:
	case reason.Passed(state.Reason):
		why, message = reason.Reason(state.Reason), fmt.Sprintf("Ingress %q is not ready: %s", d.Name, state.Message)
	case reason.Final(state.Reason):
		message = fmt.Sprintf("Ingress %q is not ready: %s: %s", d.Name, state.Reason, state.Message)
	}
	d.Fail(why, "%s", message)
}

// account returns the NATS account of the namespace, as the Dllama's own Ingress says or
// the buckets of its runners.
func (d *dllama) account() connection.Account {
	if d.Spec.Expose == nil {
		return connection.AccountOf(d.Call, resRunners)
	}
	return connection.Account{ID: d.ingress.Status.NATSAccount, Known: d.ingress.admitted()}
}

// natsPorts returns the ports of NATS, which the Dllama's own Ingress reports or the
// bucket of its runners.
func (d *dllama) natsPorts() []int32 {
	if d.Spec.Expose == nil {
		return connection.Ports(d.Call, resRunners)
	}
	return d.ingress.Status.NATSPorts
}
