package managed_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/external/natsuser"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/terraform-provider/internal/provider"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
	"github.com/gorizond/koldun/test/waittest"
)

// An operated is a server in operator mode with the settings of a provider that makes
// accounts on it.
type operated struct {
	*natstest.OperatorServer
	t     *testing.T
	block map[string]any
}

func operate(t *testing.T) operated {
	t.Helper()
	s := natstest.StartOperator(t)
	secret := s.OperatorSecret()
	return operated{s, t, map[string]any{
		"url": s.URL(), "signing_key": string(secret["operator.nk"]), "system_creds": string(secret["system.creds"]), "accounts_key": string(secret["accounts.key"]) + "\n",
	}}
}

// provider returns a provider that has no other block.
func (o operated) provider() *world {
	o.t.Helper()
	p := provider.New("test", func(string) string { return "" })
	o.t.Cleanup(p.Close)
	return &world{Provider: providertest.New(o.t, p, map[string]any{"nats_operator": o.block})}
}

// connect connects with credentials. Errors: Denied.
func (o operated) connect(creds string) (*bus.Bus, error) {
	o.t.Helper()
	life, ok := natsauth.LifeOf(creds)
	if !ok {
		o.t.Fatal("these are no credentials")
	}
	b, err := bus.Connect(waittest.Context(o.t), bus.Config{URL: o.URL(), Creds: creds, InboxPrefix: natsauth.InboxPrefix(life.User), WithoutJetStream: true, Patience: time.Millisecond})
	if err == nil {
		o.t.Cleanup(b.Close)
	}
	return b, err
}

// user connects as a new user of the account of a namespace.
func (o operated) user(namespace string) *bus.Bus {
	o.t.Helper()
	user, err := natstest.Keyring.User(natsauth.Grant{Namespace: namespace, Owner: "test", Role: natsauth.Gateway}, time.Hour)
	if err != nil {
		o.t.Fatal(err)
	}
	b, err := o.connect(user.Credentials)
	if err != nil {
		o.t.Fatal(err)
	}
	return b
}

func (o operated) state(namespace string) (natsauth.State, error) {
	return o.Accounts().State(waittest.Context(o.t), namespace)
}

// refused waits until the server refuses the credentials of a connection.
func refused(t *testing.T, who string, b *bus.Bus) {
	t.Helper()
	waittest.Until(t, "the server to refuse "+who, func() bool { return fault.Is(b.Lost(), fault.Denied) })
}

// now is a time that everything was made before.
func now() string { return time.Now().UTC().Format(time.RFC3339) }

// later waits for credentials that are newer than now.
func later(t *testing.T) {
	t.Helper()
	since := time.Now().Unix()
	waittest.Until(t, "the next second", func() bool { return time.Now().Unix() > since })
}

// TestAccountOfANamespace creates an account, changes its limits in place, revokes
// credentials, imports and destroys it.
func TestAccountOfANamespace(t *testing.T) {
	o := operate(t)
	w := o.provider()
	r := w.Resource("koldun_nats_account")
	config := map[string]any{"namespace": "team", "connections": 20, "streams": 12}
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(config)
	holds := func(want natsauth.Limits) {
		t.Helper()
		have, err := o.state("team")
		if err != nil || have.Limits != want || !have.Own || have.Disabled {
			t.Errorf("got account %+v, %v; want limits %+v", have, err, want)
		}
	}
	holds(natsauth.Limits{Connections: 20, Streams: 12})
	o.hidden(r.State, "the state")

	later(t)
	user := o.user("team")
	config["connections"], config["disk_bytes"] = 30, 1<<20
	if p := r.Plan(config); p.Errors != "" || p.Empty || len(p.Replace) > 0 {
		t.Errorf("plan of other limits: got %v, which replaces for %v %s", providertest.JSON(p.State), p.Replace, p.Errors)
	}
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(config)
	holds(natsauth.Limits{Connections: 30, Streams: 12, DiskBytes: 1 << 20})
	if !user.Connected() {
		t.Error("a change of limits ends connections")
	}

	w.Import("koldun_nats_account", "team").CheckStable(config)
	w.ImportIdentity("koldun_nats_account", map[string]any{"namespace": "team"}).CheckStable(config)

	config["revoke_before"], config["overlap"] = now(), "0s"
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	refused(t, "the user", user)
	status, _ := r.Attribute("status").(map[string]any)
	if at, err := time.Parse(time.RFC3339, text(status["revoked_before"])); err != nil || at.Format(time.RFC3339) < text(config["revoke_before"]) {
		t.Errorf("got status %v, want what was revoked before %v", status, config["revoke_before"])
	}
	r.CheckStable(config)
	later(t)
	last := o.user("team")
	if e := r.Destroy(); e != "" {
		t.Fatal(e)
	}
	refused(t, "users of an account that was destroyed", last)
	if _, err := o.state("team"); !fault.Is(err, fault.NotFound) {
		t.Errorf("the account exists after destroy: %v", err)
	}
}

// TestAccountWithAnOverlap revokes credentials after an overlap, by a later apply.
func TestAccountWithAnOverlap(t *testing.T) {
	o := operate(t)
	r := o.provider().Resource("koldun_nats_account")
	config := map[string]any{"namespace": "team"}
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	later(t)
	user := o.user("team")
	config["revoke_before"], config["overlap"] = now(), "3s"
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	if !user.Connected() || r.Attribute("ready") != true || !strings.Contains(r.Warnings, "Apply again from then on") {
		t.Errorf("credentials end before the overlap does: %v, warnings %q", providertest.JSON(r.State), r.Warnings)
	}
	waittest.Until(t, "a plan that revokes", func() bool {
		r.Refresh()
		return !r.Plan(config).Empty
	})
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	refused(t, "the user", user)
	r.CheckStable(config)
}

// TestAccountOfOthers finds an account that the Crossplane provider has made.
func TestAccountOfOthers(t *testing.T) {
	o := operate(t)
	if err := o.Accounts().Ensure(t.Context(), "theirs", natsauth.Limits{Streams: 5}); err != nil {
		t.Fatal(err)
	}
	r := o.provider().Resource("koldun_nats_account")
	if e := r.Apply(map[string]any{"namespace": "theirs"}); !strings.Contains(e, `terraform import koldun_nats_account.NAME "theirs"`) || !r.State.IsNull() {
		t.Errorf("got error %q", e)
	}
}

// TestSettingsOfTheOperator gives the block nats_operator in part, and wrongly.
func TestSettingsOfTheOperator(t *testing.T) {
	o := operate(t)
	for name, c := range map[string]struct {
		change map[string]any
		plan   bool // the plan fails, not the apply
		want   string
	}{
		"NoURL":       {map[string]any{"url": nil}, true, "Set nats_operator.url in the provider block, or the environment variable NATS_OPERATOR_URL."},
		"NoKey":       {map[string]any{"signing_key": nil}, true, "Set nats_operator.signing_key in the provider block, or the environment variable NATS_OPERATOR_SIGNING_KEY."},
		"NoLogin":     {map[string]any{"system_creds": nil}, true, "Set nats_operator.system_creds"},
		"NoKeyring":   {map[string]any{"accounts_key": nil}, true, "Set nats_operator.accounts_key"},
		"NoServers":   {map[string]any{"servers": 0}, true, "Set nats_operator.servers"},
		"Login":       {map[string]any{"url": "nats://u:p@" + strings.TrimPrefix(o.URL(), "nats://")}, true, "Remove them from nats_operator.url"},
		"KnownLater":  {map[string]any{"signing_key": providertest.Unknown{}}, false, "nats_operator settings are not known yet"},
		"NotAKey":     {map[string]any{"signing_key": "SOMETHING"}, false, "nats_operator of the provider block"},
		"NotALogin":   {map[string]any{"system_creds": "/path/of/system.creds"}, false, "nats_operator.system_creds of the provider block: it is not the content"},
		"ShortKey":    {map[string]any{"accounts_key": "short"}, false, "needs at least 32"},
		"OtherSigner": {map[string]any{"signing_key": string(natstest.NewOperator(t).SigningKey())}, false, "sign"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := operated{o.OperatorServer, t, map[string]any{}}
			for k, v := range o.block {
				changed.block[k] = v
			}
			for k, v := range c.change {
				changed.block[k] = v
			}
			r := changed.provider().Resource("koldun_nats_account")
			config := map[string]any{"namespace": "of-" + strings.ToLower(name)}
			e := r.Plan(config).Errors
			if (e != "") != c.plan {
				t.Errorf("plan: got error %q", e)
			}
			if !c.plan {
				e = r.Apply(config)
			}
			if !strings.Contains(e, c.want) {
				t.Errorf("got error %q, want %q", e, c.want)
			}
			o.hiddenText(e, "the error")
		})
	}
}

// usersOf is the configuration of users with their credentials in a Secret.
func usersOf(namespace string, roles ...string) map[string]any {
	var users []any
	for _, r := range roles {
		users = append(users, map[string]any{"name": r, "role": r})
	}
	return map[string]any{"namespace": namespace, "name": "app", "users": users, "write_secret_to": map[string]any{"name": "app-nats"}}
}

// creds returns the credentials of a user in the Secret.
func (s *safe) creds(user string) string { return string(s.data("app-nats")[natsuser.File(user)]) }
