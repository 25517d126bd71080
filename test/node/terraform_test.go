package node_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/gorizond/koldun/terraform-provider/clitest"
)

// TestTerraform applies the examples with OpenTofu: they serve, the plan afterwards is empty,
// and destroy leaves nothing.
func TestTerraform(t *testing.T) {
	w := koldun(t)
	tell("OpenTofu: the examples serve, a second plan is empty, and destroy leaves nothing.")
	tofu := clitest.NewReleaseMirror(t, released(version, "files"))
	t.Run("Quickstart", func(t *testing.T) { w.terraform.quickstart(t, tofu) })
	t.Run("Platform", func(t *testing.T) { w.terraform.platform(t, tofu) })
}

// quickstart is one resource with an endpoint.
func (tf *terraform) quickstart(t *testing.T, tofu *clitest.Mirror) {
	f := tf.example(t, tofu, "quickstart")
	f.apply(t)
	tf.services.mustAnswer(t, "default", "koldun-tiny-gateway", "default/koldun-tiny", "")
	f.destroy()
	tf.leftovers.none(t, "default")
}

// platform is what a platform team shares, in the account of its namespace on NATS. The chart
// has installed Crossplane; kubectl applies the release's install.yaml over the rest of it.
func (tf *terraform) platform(t *testing.T, tofu *clitest.Mirror) {
	const ns, token = "ai", "a-token-of-the-search-team"
	f := tf.example(t, tofu, "platform",
		"PATH="+filepath.Join(mustAbs(t, repository), "bin")+":"+os.Getenv("PATH"), "TF_VAR_crossplane=", "TF_VAR_install="+tf.installYAML(t),
		`TF_VAR_tokens={"search": "`+token+`", "support": "a-token-of-the-support-team"}`,
		// The certificates of the servers have the name localhost, for forwarded ports.
		fmt.Sprintf("NATS_OPERATOR_URL=nats://localhost:%d", tf.services.tunnel(t, "nats", "nats")), "NATS_OPERATOR_SERVERS=3",
		"NATS_OPERATOR_SIGNING_KEY="+tf.nats.secret(t, "nats", "nats-operator", "operator.nk"),
		"NATS_OPERATOR_SYSTEM_CREDS="+tf.nats.secret(t, "nats", "nats-operator", "system.creds"),
		"NATS_OPERATOR_ACCOUNTS_KEY="+tf.nats.secret(t, "nats", "nats-operator", "accounts.key"),
		"NATS_OPERATOR_CA="+tf.nats.secret(t, "nats", "nats-client", "ca.crt"))
	f.apply(t)
	tf.services.mustAnswer(t, ns, "api-gateway", ns+"/tiny", token)
	var refused *openai.Error
	_, _, err := asks(tf.services.url(t, ns, "api-gateway"), "another-token").Stream(t.Context(), ns+"/tiny", question)
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusUnauthorized {
		t.Errorf("with another token: %v", err)
	}
	f.destroy()
	if out := tf.Kubectl(t, "get", "namespace", ns, "--ignore-not-found", "--output=name"); out != "" {
		t.Errorf("%s is left", out)
	}
	tell("nothing is left")
}

// installYAML returns the release's install.yaml with the names of the cluster's packages.
func (tf *terraform) installYAML(t *testing.T) string {
	t.Helper()
	file := mustAbs(t, released(version, "files", "install.yaml"))
	if tf.node != nil {
		return file
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "install.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(raw), "ghcr.io/", tf.registry+"/")), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// An example is a copy of a folder of examples/terraform.
type example struct {
	*clitest.Folder
	name string
}

// example returns an example with the environment of its commands.
func (tf *terraform) example(t *testing.T, tofu *clitest.Mirror, name string, env ...string) example {
	t.Helper()
	return example{tofu.Copy(t, filepath.Join(repository, "examples", "terraform", name), append(env, "KUBECONFIG="+tf.Kubeconfig())...), name}
}

// apply applies an example, and tests that the plan afterwards is empty.
func (f example) apply(t *testing.T) {
	t.Helper()
	began := time.Now()
	f.OK("apply", "-auto-approve")
	tell("tofu apply in examples/terraform/%s took %s", f.name, time.Since(began).Round(time.Second))
	if r := f.Run("plan", "-detailed-exitcode"); r.Exit != 0 {
		t.Errorf("the plan after apply is not empty:\n%s", r.Out)
	}
	tell("tofu plan finds nothing to do")
}

// destroy destroys all resources.
func (f example) destroy() {
	began := time.Now()
	f.OK("destroy", "-auto-approve")
	tell("tofu destroy in examples/terraform/%s took %s", f.name, time.Since(began).Round(time.Second))
}
