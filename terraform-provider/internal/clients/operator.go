package clients

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/terraform-provider/internal/kube"
)

// Environment variables that the settings of the operator fall back to. No workload has
// them.
const (
	EnvOperatorURL      = "NATS_OPERATOR_URL"
	EnvOperatorSigning  = "NATS_OPERATOR_SIGNING_KEY"
	EnvOperatorSystem   = "NATS_OPERATOR_SYSTEM_CREDS"
	EnvOperatorAccounts = "NATS_OPERATOR_ACCOUNTS_KEY"
	EnvOperatorServers  = "NATS_OPERATOR_SERVERS"
	EnvOperatorCA       = "NATS_OPERATOR_CA"
)

// ownLife is the lifetime of credentials that the provider makes for itself, which an apply
// does not outlive.
const ownLife = 24 * time.Hour

// An Operator holds the keys that make accounts on NATS servers in operator mode.
type Operator struct {
	Servers bus.Config       // without a login; URL "" is not configured
	Signing natsauth.Seed    // signs accounts
	System  string           // credentials file of a user of the system account
	Keyring natsauth.Keyring // the keys of accounts follow from it
	Count   int              // of servers
}

// missing returns which setting is missing or cannot be used, and how to mend it.
func (o Operator) missing() string {
	for _, s := range []struct{ name, env, value string }{
		{"url", EnvOperatorURL, o.Servers.URL},
		{"signing_key", EnvOperatorSigning, string(o.Signing)},
		{"system_creds", EnvOperatorSystem, o.System},
		{"accounts_key", EnvOperatorAccounts, string(o.Keyring)},
	} {
		if s.value == "" {
			return fmt.Sprintf("The operator of the NATS servers is not configured. Set nats_operator.%s in the provider block, or the environment variable %s. "+
				"The Secret nats-operator, which spec.nats.operator of a ClusterProviderConfig names, holds the keys.", s.name, s.env)
		}
	}
	switch {
	case strings.Contains(o.Servers.URL, "@"):
		return "The URL of the NATS servers holds credentials, and users that koldun_nats_user makes would get it. Remove them from nats_operator.url in the provider block, or from the environment variable " + EnvOperatorURL + "."
	case o.Count < 1:
		return "The number of NATS servers is not a number of at least 1. Set nats_operator.servers in the provider block, or the environment variable " + EnvOperatorServers + "."
	}
	return ""
}

// login returns the connection of the user of the system account.
func (o Operator) login() (bus.Config, error) {
	out := o.Servers
	life, ok := natsauth.LifeOf(o.System)
	if !ok {
		return out, fault.Errorf(fault.Invalid, "cannot use nats_operator.system_creds of the provider block: it is not the content of a NATS credentials file")
	}
	out.WithoutJetStream, out.Creds, out.InboxPrefix = true, o.System, natsauth.InboxPrefix(life.User)
	return out, nil
}

// address returns how to reach the servers, without a login.
func (o Operator) address() bus.Config {
	return bus.Config{URL: o.Servers.URL, CA: o.Servers.CA, Cert: o.Servers.Cert, Key: o.Servers.Key}
}

// own reports whether the provider makes its user of NATS by itself.
func (c *Connections) own() bool {
	return c.Settings.NATS.URL == "" && !c.Settings.Unknown[NATS] && c.Settings.Operator.missing() == ""
}

// ownLogin returns the connection of a user that the provider makes in the account of its
// namespace. Credentials from before an account exists are refused for ever. Errors: Denied
// without an account, those of bus.Connect.
func (c *Connections) ownLogin(ctx context.Context) (bus.Config, error) {
	out, namespace := c.Settings.Operator.address(), c.Namespace()
	operator, err := operated{c}.Operator(ctx)
	if err != nil {
		return out, err
	}
	switch state, err := operator.Accounts.State(ctx, namespace); {
	case fault.Is(err, fault.NotFound), err == nil && state.Disabled:
		return out, fault.Errorf(fault.Denied, "cannot use NATS: namespace %q has no account yet, or a disabled one. Let the resource depend on a koldun_nats_account or a claim in the namespace, "+
			"and name it by kubernetes.namespace in the provider block", namespace)
	case err != nil:
		return out, err
	}
	user, err := c.Settings.Operator.Keyring.User(natsauth.Grant{Namespace: namespace, Owner: "terraform", Role: natsauth.Provider}, ownLife)
	if err != nil {
		return out, err
	}
	out.Creds, out.InboxPrefix, out.Name = user.Credentials, user.InboxPrefix, kube.FieldManager
	return out, nil
}

// Of returns the connections of a resource that needs some systems. Those of a resource
// that makes accounts have an Operator; others do not need the servers to answer.
func (c *Connections) Of(needs []System) catalog.Connections {
	if slices.Contains(needs, NATSOperator) {
		return operated{c}
	}
	return c
}

// operated are Connections that make accounts.
type operated struct{ *Connections }

// Operator returns the accounts of the NATS servers. Errors: Invalid (settings), those of
// bus.Connect, within 20 s.
func (c operated) Operator(ctx context.Context) (*catalog.Operator, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.operator != nil {
		return c.operator, nil
	}
	if err := c.check(NATSOperator); err != nil {
		return nil, err
	}
	of := c.Settings.Operator
	login, err := of.login()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	b, err := bus.Connect(ctx, login)
	if err != nil {
		return nil, Advise(NATSOperator, err)
	}
	accounts, err := natsauth.NewAccounts(b.Conn(), of.Signing, of.Keyring, of.Count)
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("cannot use nats_operator of the provider block: %w", err)
	}
	c.system, c.operator = b, &catalog.Operator{Accounts: accounts, Address: of.address().Env()}
	return c.operator, nil
}
