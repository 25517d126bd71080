package acceptance

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/terraform-provider/clitest"
)

// TestPlansAndStateHoldNoSecrets plans, applies, refreshes and destroys with secrets of
// all kinds, and looks for them in the output, the logs, the plan and the state.
func TestPlansAndStateHoldNoSecrets(t *testing.T) { each(t, plansAndStateHoldNoSecrets) }

func plansAndStateHoldNoSecrets(t *testing.T, m *clitest.Mirror) {
	const marker = "marker-of-a-secret-word"
	env := servers(t)
	b := connect(t, env)
	if err := b.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := m.Folder(t, head+`
variable "secret" {
  type      = string
  ephemeral = true
}
ephemeral "koldun_token" "run" {
  models = ["ns/a"]
}
resource "koldun_token" "ci" {
  name      = "ci"
  secret_wo = var.secret
}
resource "koldun_key_value" "settings" {
  bucket = "settings"
}
resource "koldun_key_value_entry" "secret" {
  bucket           = koldun_key_value.settings.bucket
  key              = "secret"
  value_wo         = var.secret
  value_wo_version = 1
}
resource "koldun_key_value_entry" "run" {
  bucket           = koldun_key_value.settings.bucket
  key              = "run"
  value_wo         = ephemeral.koldun_token.run.token
  value_wo_version = 1
}
`, append(env, "TF_VAR_secret="+marker)...)
	said := logged(f)
	said.add(f.OK("plan", "-out", "saved.plan"))
	said.add(f.OK("apply", "saved.plan"))
	if r := f.Run("plan", "-detailed-exitcode"); r.Exit != 0 {
		t.Errorf("the plan after apply is not empty:\n%s", r.Out)
	}
	run, _, err := b.GetBytes(t.Context(), "settings", "run")
	if err != nil || !strings.HasPrefix(string(run), "koldun-") {
		t.Fatalf("ephemeral token: got %q, %v", run, err)
	}
	said.lacks(t, marker, string(run), natstest.Password, s3test.SecretKey)
	tokens, err := registry.Tokens(b).List(t.Context(), ">")
	if err != nil || len(tokens) != 1 {
		t.Errorf("tokens after the run: got %d, %v; want no valid ephemeral token", len(tokens), err)
	}
	f.OK("destroy", "-auto-approve")
}

// TestSecretsOfAClusterStayThere lets the provider write Secrets of a cluster,
// loses and replaces one, and looks for the secrets everywhere else.
func TestSecretsOfAClusterStayThere(t *testing.T) {
	m, c := mirror(t), shared.Cluster(t)
	namespace := c.Namespace(t)
	env := servers(t)
	if err := connect(t, env).Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := m.Folder(t, head+`
variable "models" {
  type    = list(string)
  default = ["ns/a"]
}
resource "koldun_token" "app" {
  name            = "app"
  models          = var.models
  write_secret_to = { name = "app-token" }
}
resource "koldun_stream" "app" {
  name            = "app"
  subjects        = ["app.>"]
  write_secret_to = { name = "app-stream" }
}
resource "koldun_bucket" "app" {
  bucket_name     = "secrets-app"
  write_secret_to = { name = "app-bucket" }
}
`, append(env, "KUBECONFIG="+c.Kubeconfig(), "KUBE_NAMESPACE="+namespace)...)
	secret := func(name, key string) string {
		t.Helper()
		var s corev1.Secret
		if err := c.Client().Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &s); err != nil {
			t.Fatal(err)
		}
		if len(s.Data[key]) == 0 {
			t.Fatalf("Secret %q has no %s", name, key)
		}
		return string(s.Data[key])
	}
	said := logged(f)
	said.add(f.OK("plan", "-out", "saved.plan"))
	said.add(f.OK("apply", "saved.plan"))
	first := secret("app-token", token.ConnectionKey)
	if secret("app-stream", "NATS_PASSWORD") != natstest.Password || secret("app-bucket", "AWS_SECRET_ACCESS_KEY") != s3test.SecretKey {
		t.Error("the Secrets do not hold the credentials in use")
	}
	if r := f.Run("plan", "-detailed-exitcode"); r.Exit != 0 {
		t.Errorf("the plan after apply is not empty:\n%s", r.Out)
	}
	// The token is lost with its Secret, and the provider generates another one.
	if err := c.Client().Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "app-token"}}); err != nil {
		t.Fatal(err)
	}
	said.add(f.OK("plan", "-var", `models=["ns/a", "ns/b"]`, "-out", "saved.plan"))
	said.add(f.OK("apply", "saved.plan"))
	second := secret("app-token", token.ConnectionKey)
	if second == first {
		t.Error("the lost token is still current")
	}
	said.add(f.OK("show", "-json"))
	said.add(f.OK("show", "-json", "saved.plan"))
	said.lacks(t, first, second, natstest.Password, s3test.SecretKey)
	said.add(f.OK("destroy", "-auto-approve"))
	said.lacks(t, first, second, natstest.Password, s3test.SecretKey)
}

// connect connects to the NATS server of an environment.
func connect(t *testing.T, env []string) *bus.Bus {
	t.Helper()
	url := strings.TrimPrefix(env[0], "NATS_URL=")
	b, err := bus.Connect(t.Context(), bus.Config{URL: url, User: natstest.User, Password: natstest.Password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// TestSecretsOfClaimsAreRefused gives secrets to attributes that plans and the
// state would hold: one that is known to the plan, and one that is known only
// while another resource is applied.
func TestSecretsOfClaimsAreRefused(t *testing.T) {
	// The configuration, which a saved plan copies, holds the secret reversed.
	const secret, known = "marker-of-a-secret-word", `strrev("drow-terces-a-fo-rekram")`
	m, c := mirror(t), shared.Cluster(t)
	namespace := c.Namespace(t)
	for name, refused := range map[string]struct{ attribute, instead string }{
		"Key": {`hash_secret = VALUE`, "hash_secret_ref"},
		"URL": {`nats = { url = "nats://user:${VALUE}@host" }`, "credentials_secret"},
	} {
		t.Run(name, func(t *testing.T) {
			config := func(value string) string {
				return head + fmt.Sprintf(`
resource "terraform_data" "first" {}
resource "koldun_ingress" "api" {
  name    = %q
  backend = { %s }
  wait    = { until = "none" }
}
`, strings.ToLower(name), strings.ReplaceAll(refused.attribute, "VALUE", value))
			}
			f := m.Folder(t, config(known), "KUBECONFIG="+c.Kubeconfig(), "KUBE_NAMESPACE="+namespace)
			said := logged(f)
			r := f.Run("plan", "-out", "saved.plan")
			said.add(r.Out)
			if r.Exit == 0 || !strings.Contains(r.Out, refused.instead) {
				t.Errorf("the plan with a secret exits with %d:\n%s", r.Exit, r.Out)
			}
			f.Write("main.tf", config(`(terraform_data.first.id == "" ? "" : `+known+`)`))
			said.add(f.OK("plan", "-out", "saved.plan"))
			r = f.Run("apply", "saved.plan")
			said.add(r.Out)
			if r.Exit == 0 || !strings.Contains(r.Out, refused.instead) {
				t.Errorf("the apply with a secret exits with %d:\n%s", r.Exit, r.Out)
			}
			said.lacks(t, secret)
		})
	}
}
