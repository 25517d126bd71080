package managed_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gorizond/koldun/internal/external/natsuser"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

// hidden requires a state or plan to hold none of the operator's keys, and no other
// credentials.
func (o operated) hidden(v tftypes.Value, where string) {
	o.t.Helper()
	o.hiddenText(text(providertest.JSON(v)), where)
}

func (o operated) hiddenText(all, where string) {
	o.t.Helper()
	for name, v := range o.OperatorSecret() {
		if name != "system.creds" && strings.Contains(all, string(v)) {
			o.t.Errorf("%s holds %s of the operator", where, name)
		}
	}
	if strings.Contains(all, "-----BEGIN") || strings.Contains(all, "eyJ") {
		o.t.Errorf("%s holds credentials", where)
	}
}

// dial connects as a user of the Secret.
func dial(o operated, s *safe, user string) *bus.Bus {
	o.t.Helper()
	b, err := o.connect(s.creds(user))
	if err != nil {
		o.t.Fatal(err)
	}
	return b
}

// startOperated returns a provider on a server in operator mode, with a cluster for
// Secrets. The account of the namespace does not exist yet.
func startOperated(t *testing.T) (*world, *safe, operated) {
	t.Helper()
	o := operate(t)
	w, s := startWithSafe(t, map[string]any{"nats_operator": o.block})
	return w, s, o
}

// TestUsersOfANamespace makes users without and with an account, removes one, revokes
// credentials, loses the Secret, lets credentials become old, imports and destroys.
func TestUsersOfANamespace(t *testing.T) {
	w, s, o := startOperated(t)
	config := usersOf(s.namespace, "gateway", "dispatcher")
	r := w.Resource("koldun_nats_user")
	if e := r.Apply(config); !strings.Contains(e, "make its NATSAccount") || !r.State.IsNull() || s.data("app-nats") != nil {
		t.Fatalf("users without an account: got error %q, state %v", e, providertest.JSON(r.State))
	}
	if e := w.Resource("koldun_nats_account").Apply(map[string]any{"namespace": s.namespace}); e != "" {
		t.Fatal(e)
	}
	apply := func() {
		t.Helper()
		p := r.Plan(config)
		if len(p.Replace) > 0 && !r.State.IsNull() {
			t.Errorf("the plan replaces for %v", p.Replace)
		}
		o.hidden(p.State, "the plan")
		if e := r.Apply(config); e != "" || r.Warnings != "" {
			t.Fatal(e, r.Warnings)
		}
		r.CheckStable(config)
		o.hidden(r.State, "the state")
	}
	apply()
	if got := s.data("app-nats"); len(got) != 3 || string(got["NATS_URL"]) != o.URL() {
		t.Errorf("got a Secret with %d keys and URL %q", len(got), got["NATS_URL"])
	}
	gateway, dispatcher := dial(o, s, "gateway"), dial(o, s, "dispatcher")

	config["users"] = usersOf(s.namespace, "gateway")["users"]
	apply()
	refused(t, "a user that was removed", dispatcher)
	if s.creds("dispatcher") != "" || !gateway.Connected() {
		t.Errorf("without the dispatcher: its credentials are %q, the gateway is connected: %v", s.creds("dispatcher"), gateway.Connected())
	}

	leaked := s.creds("gateway")
	config["revoke_before"], config["overlap"] = now(), "0s"
	apply()
	refused(t, "leaked credentials", gateway)
	if _, err := o.connect(leaked); !fault.Is(err, fault.Denied) {
		t.Errorf("leaked credentials connect: %v", err)
	}
	kept := s.creds("gateway")
	dial(o, s, "gateway")

	if imported := w.Import("koldun_nats_user", s.namespace+"/app"); imported.Attribute("users") != nil {
		t.Errorf("an import reads %v", providertest.JSON(imported.State))
	} else if p := imported.Plan(config); p.Errors != "" || len(p.Replace) > 0 || imported.Apply(config) != "" || s.creds("gateway") != kept {
		t.Errorf("an import replaces for %v, or changes credentials: %s", p.Replace, p.Errors)
	}

	lost(t, r, s, config, apply)
	old(t, r, s, config, apply)
	gateway = dial(o, s, "gateway")
	if e := r.Destroy(); e != "" {
		t.Fatal(e)
	}
	refused(t, "users that were destroyed", gateway)
	if s.data("app-nats") != nil {
		t.Error("the Secret exists after destroy")
	}
}

// lost deletes the Secret: the next apply writes it again.
func lost(t *testing.T, r *providertest.Resource, s *safe, config map[string]any, apply func()) {
	t.Helper()
	if err := s.secrets.Delete(t.Context(), "app-nats", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.Refresh()
	if p := r.Plan(config); p.Empty || r.Attribute("ready") != false {
		t.Errorf("plan without the Secret: got %v", providertest.JSON(p.State))
	}
	apply()
	if s.creds("gateway") == "" {
		t.Error("the apply wrote no credentials")
	}
}

// old puts credentials into the Secret that end soon: the next apply renews them.
func old(t *testing.T, r *providertest.Resource, s *safe, config map[string]any, apply func()) {
	t.Helper()
	held, _ := natsauth.LifeOf(s.creds("gateway"))
	user, err := natstest.Keyring.User(natsauth.Grant{Namespace: s.namespace, Owner: "terraform/app//gateway", Role: natsauth.Gateway}, time.Minute)
	if err != nil || user.ID != held.User {
		t.Fatalf("got user %s, %v, want that of the Secret, %s", user.ID, err, held.User)
	}
	patch, err := json.Marshal(map[string]any{"stringData": map[string]string{natsuser.File("gateway"): user.Credentials}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.secrets.Patch(t.Context(), "app-nats", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	r.Refresh()
	if p := r.Plan(config); p.Empty || len(p.Replace) > 0 {
		t.Errorf("plan of credentials that end soon: got none or a replacement for %v", p.Replace)
	}
	apply()
	if renewed, _ := natsauth.LifeOf(s.creds("gateway")); renewed.User != held.User || time.Until(renewed.End) < time.Hour {
		t.Errorf("got credentials of %s until %s", renewed.User, renewed.End)
	}
}
