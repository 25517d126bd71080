package acceptance

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/registry"
	"github.com/gorizond/koldun/terraform-provider/internal/tofu"
)

// TestSecretsStayOutside plans, applies, refreshes and destroys with secrets of
// all sorts, logging all there is, and looks for them in whatever was written.
func TestSecretsStayOutside(t *testing.T) { each(t, secretsStayOutside) }

func secretsStayOutside(t *testing.T, m *tofu.Mirror) {
	const marker = "marker-of-a-secret-word"
	env := outside(t)
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
		t.Fatalf("the ephemeral token is %q, %v", run, err)
	}
	said.lacks(t, marker, string(run), natstest.Password, s3test.SecretKey)
	tokens, err := registry.Tokens(b).List(t.Context(), ">")
	if err != nil || len(tokens) != 1 {
		t.Errorf("after the run there are %d tokens, %v: the ephemeral ones are to be dead", len(tokens), err)
	}
	f.OK("destroy", "-auto-approve")
}

// TestSecretsOfAClusterStayOutside has secrets written to where workloads find
// them, lives through all that happens to them, and looks for them elsewhere.
func TestSecretsOfAClusterStayOutside(t *testing.T) { each(t, secretsOfAClusterStayOutside) }

func secretsOfAClusterStayOutside(t *testing.T, m *tofu.Mirror) {
	c := shared.Cluster(t)
	namespace := c.Namespace(t)
	env := outside(t)
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
		t.Error("the Secrets have other credentials than those in use")
	}
	if r := f.Run("plan", "-detailed-exitcode"); r.Exit != 0 {
		t.Errorf("the plan after apply is not empty:\n%s", r.Out)
	}
	// With its Secret the token is lost, and another one is made.
	if err := c.Client().Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "app-token"}}); err != nil {
		t.Fatal(err)
	}
	said.add(f.OK("plan", "-var", `models=["ns/a", "ns/b"]`, "-out", "saved.plan"))
	said.add(f.OK("apply", "saved.plan"))
	second := secret("app-token", token.ConnectionKey)
	if second == first {
		t.Error("the token that was lost is still the one")
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
