package acceptance

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/waittest"
)

// operatorOf returns the environment with the keys of a server's operator.
func operatorOf(s *natstest.OperatorServer) []string {
	secret := s.OperatorSecret()
	return []string{
		"NATS_OPERATOR_URL=" + s.URL(), "NATS_OPERATOR_SIGNING_KEY=" + string(secret["operator.nk"]),
		"NATS_OPERATOR_SYSTEM_CREDS=" + string(secret["system.creds"]), "NATS_OPERATOR_ACCOUNTS_KEY=" + string(secret["accounts.key"]),
	}
}

// TestExampleOfAccounts runs the tests of the example, applies it, revokes credentials and
// destroys it. It looks for the keys and for credentials in all output, the plan and the state.
func TestExampleOfAccounts(t *testing.T) {
	m, c, s := mirror(t), shared.Cluster(t), natstest.StartOperator(t)
	namespace := c.Namespace(t)
	keys := operatorOf(s)
	f := m.Copy(t, "../../examples/terraform/nats", append(keys, "KUBECONFIG="+c.Kubeconfig(), "TF_VAR_namespace="+namespace)...)
	f.OK("test")
	creds := func() string {
		t.Helper()
		var secret corev1.Secret
		if err := c.Client().Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "serving-nats"}, &secret); err != nil {
			t.Fatal(err)
		}
		return string(secret.Data["gateway.creds"])
	}
	said := logged(f)
	said.add(f.OK("plan", "-out", "saved.plan"))
	said.add(f.OK("show", "-json", "saved.plan"))
	said.add(f.OK("apply", "saved.plan"))
	first := creds()
	life, ok := natsauth.LifeOf(first)
	if !ok {
		t.Fatal("the Secret has no credentials of the gateway")
	}
	if r := f.Run("plan", "-detailed-exitcode"); r.Exit != 0 {
		t.Errorf("the plan after apply is not empty:\n%s", r.Out)
	}
	f.Env = append(f.Env, "TF_VAR_revoke_before="+time.Now().UTC().Format(time.RFC3339))
	said.add(f.OK("apply", "-auto-approve"))
	if r := f.Run("plan", "-detailed-exitcode"); r.Exit != 0 {
		t.Errorf("the plan after a revocation is not empty:\n%s", r.Out)
	}
	second := creds()
	if state, err := s.Accounts().State(waittest.Context(t), namespace); err != nil || state.Accepts(life.User, life.Made) || second == first {
		t.Errorf("the account accepts revoked credentials, or they are still in the Secret: %v", err)
	}
	said.add(f.OK("show", "-json"))
	said.lacks(t, secretsIn(keys, first, second)...)
	said.add(f.OK("destroy", "-auto-approve"))
	said.lacks(t, secretsIn(keys, first, second)...)
}

// secretsIn returns the keys of an operator and the credentials, as they are and as JSON
// has their first lines.
func secretsIn(keys []string, credentials ...string) []string {
	var out []string
	for _, k := range keys {
		if name, v, _ := strings.Cut(k, "="); name != "NATS_OPERATOR_URL" && !strings.HasPrefix(v, "-----") {
			out = append(out, v)
		} else if name != "NATS_OPERATOR_URL" {
			credentials = append(credentials, v)
		}
	}
	for _, c := range credentials {
		for line := range strings.Lines(c) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "eyJ") || strings.HasPrefix(line, "SU") {
				out = append(out, line)
			}
		}
	}
	return out
}

// TestOwnUser tests that the provider needs no login for resources in the account of its
// namespace, and that it says what to do if there is no account.
func TestOwnUser(t *testing.T) {
	s := natstest.StartOperator(t)
	f := mirror(t).Folder(t, head+`
provider "koldun" {
  kubernetes = { namespace = "search" }
}
variable "account" { default = true }
resource "koldun_nats_account" "search" {
  count     = var.account ? 1 : 0
  namespace = "search"
}
resource "koldun_key_value" "tokens" {
  depends_on = [koldun_nats_account.search]
  bucket     = "koldun_tokens"
}
`, operatorOf(s)...)
	if r := f.Run("apply", "-auto-approve", "-var", "account=false"); r.Exit == 0 || !wrapped(`namespace "search" has no account yet`).MatchString(r.Out) {
		t.Errorf("apply without an account exits with %d:\n%s", r.Exit, r.Out)
	}
	f.OK("apply", "-auto-approve")
	if r := f.Run("plan", "-detailed-exitcode"); r.Exit != 0 {
		t.Errorf("the plan after apply is not empty:\n%s", r.Out)
	}
	f.OK("destroy", "-auto-approve")
}
