package connection

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// resUsers is the name of the composed resource.
const resUsers = "nats-users"

// Roles of users.
const (
	roleGateway    = "gateway"
	roleDispatcher = "dispatcher"
	roleRunner     = "runner"
	roleJob        = "job"
)

// Gateway is the user of a gateway.
func Gateway() v1alpha1.NATSUserGrant {
	return v1alpha1.NATSUserGrant{Name: roleGateway, Role: roleGateway}
}

// Dispatcher is the user of a dispatcher.
func Dispatcher() v1alpha1.NATSUserGrant {
	return v1alpha1.NATSUserGrant{Name: roleDispatcher, Role: roleDispatcher}
}

// Runner is the user of a runner in a pod, which serves the model of a namespace's
// registry.
func Runner(session, namespace, pod, model string) v1alpha1.NATSUserGrant {
	return v1alpha1.NATSUserGrant{
		Name: roleRunner, Role: roleRunner, Session: session, Runner: names.Runner(namespace, pod), Model: names.ModelKey(namespace, model),
	}
}

// Job is the user of a Job that reports its progress under a key.
func Job(name, progress string) v1alpha1.NATSUserGrant {
	return v1alpha1.NATSUserGrant{Name: name, Role: roleJob, Progress: progress}
}

// An Account is what is known about the NATS account of a namespace.
type Account struct {
	// ID is empty if all namespaces use one account, whose login the Secret with the
	// connection holds.
	ID string
	// Known says that an empty ID is not just unknown yet.
	Known bool
}

// AccountOf returns what the composed Queue or KeyValue of a name says.
func AccountOf(c *compose.Call, res string) Account {
	var seen struct {
		Status struct {
			AtProvider struct {
				Account string `json:"account"`
			} `json:"atProvider"`
		} `json:"status"`
	}
	c.Observed(res, &seen)
	ready, _ := managed.Ready(c, res)
	return Account{ID: seen.Status.AtProvider.Account, Known: bool(ready)}
}

// Logins are those of the pods of one composite. The zero Logins are none: the Secret
// with the connection has one.
type Logins struct{ secret string }

// Of returns the login of a user.
func (l Logins) Of(user string) workload.Login {
	if l.secret == "" {
		return workload.Login{}
	}
	return workload.Login{Secret: l.secret, Key: user + ".creds"}
}

// Gateway returns the login of a gateway.
func (l Logins) Gateway() workload.Login { return l.Of(roleGateway) }

// Dispatcher returns the login of a dispatcher.
func (l Logins) Dispatcher() workload.Login { return l.Of(roleDispatcher) }

// Runner returns the login of a runner.
func (l Logins) Runner() workload.Login { return l.Of(roleRunner) }

// Users composes the users of the pods of a composite, if its namespace has an account.
// pending says what to wait for.
func Users(c *compose.Call, via managed.Via, o Owner, a Account, users ...v1alpha1.NATSUserGrant) (out Logins, pending managed.Pending, err error) {
	if a.ID == "" && (a.Known || !c.Exists(resUsers)) {
		return Logins{}, managed.Pending{}, nil
	}
	out.secret = o.secret("nats", "users")
	spec := managed.Spec(via)
	spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: out.secret}
	pending, err = managed.Await(c, map[string]any{resUsers: &v1alpha1.NATSUser{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindNATSUser},
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.name("users")},
		Spec:       v1alpha1.NATSUserSpec{ManagedResourceSpec: spec, ForProvider: v1alpha1.NATSUserParameters{Users: users}},
	}})
	return out, pending, err
}
