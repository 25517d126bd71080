package acceptance

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
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
	log := filepath.Join(f.Dir, "trace.log")
	f.Env = append(f.Env, "TF_LOG=TRACE", "TF_LOG_PATH="+log)
	written := f.OK("plan", "-out", "saved.plan")
	written += f.OK("apply", "saved.plan")
	if r := f.Run("plan", "-detailed-exitcode"); r.Exit != 0 {
		t.Errorf("the plan after apply is not empty:\n%s", r.Out)
	}
	run, _, err := b.GetBytes(t.Context(), "settings", "run")
	if err != nil || !strings.HasPrefix(string(run), "koldun-") {
		t.Fatalf("the ephemeral token is %q, %v", run, err)
	}
	secrets := []string{marker, string(run), natstest.Password, s3test.SecretKey}
	check := func(where string, content []byte) {
		for i, s := range secrets {
			if bytes.Contains(content, []byte(s)) {
				t.Errorf("%s holds secret %d", where, i)
			}
		}
	}
	check("what is written to the terminal", []byte(written))
	for _, name := range []string{"terraform.tfstate", "trace.log"} {
		content, err := os.ReadFile(filepath.Join(f.Dir, name))
		if err != nil || len(content) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		check(name, content)
	}
	plan, err := zip.OpenReader(filepath.Join(f.Dir, "saved.plan"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plan.Close() }()
	for _, part := range plan.File {
		r, err := part.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		check("the plan's "+part.Name, content)
	}
	tokens, err := registry.Tokens(b).List(t.Context(), ">")
	if err != nil || len(tokens) != 1 {
		t.Errorf("after the run there are %d tokens, %v: the ephemeral ones are to be dead", len(tokens), err)
	}
	f.OK("destroy", "-auto-approve")
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
