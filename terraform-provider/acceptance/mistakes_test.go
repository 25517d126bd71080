package acceptance

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
)

// TestMistakesAreExplained makes mistakes of new users: each error names the mistake
// and the place to correct it.
func TestMistakesAreExplained(t *testing.T) {
	m, c := mirror(t), shared.Cluster(t)
	right, err := os.ReadFile(c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := func(pattern, to string) string {
		path := filepath.Join(t.TempDir(), "kubeconfig")
		if err := os.WriteFile(path, regexp.MustCompile(pattern).ReplaceAll(right, []byte(to)), 0o600); err != nil {
			t.Fatal(err)
		}
		return "KUBECONFIG=" + path
	}
	const dllama = `resource "koldun_dllama" "d" {
  name      = "d"
  model_ref = { name = "m" }
}`
	env := append(servers(t), "KUBECONFIG="+c.Kubeconfig(), "KUBE_NAMESPACE="+c.Namespace(t))
	for name, mistake := range map[string]struct {
		config string
		env    []string
		want   []string
	}{
		"NoKubeconfig":     {dllama, []string{"KUBECONFIG="}, []string{"koldun_dllama needs kubernetes", "the environment variable KUBECONFIG"}},
		"KubeconfigIsGone": {dllama, []string{"KUBECONFIG=/does/not/exist"}, []string{"/does/not/exist", "kubernetes.config_path in the provider block"}},
		"NoKubeconfigFile": {dllama, []string{kubeconfig("(?s).*", "{[")}, []string{"is to name a kubeconfig file"}},
		"ClusterIsDown":    {dllama, []string{kubeconfig(`127\.0\.0\.1:\d+`, "127.0.0.1:1")}, []string{"is the cluster up"}},
		"WrongToken":       {dllama, []string{kubeconfig(`token: .*`, "token: wrong")}, []string{"no longer valid", "the user in the kubeconfig file"}},
		"NoNamespace":      {dllama, []string{"KUBE_NAMESPACE=nowhere"}, []string{`"nowhere" not found`, "make the namespace first"}},
		"WrongKeys":        {`resource "koldun_bucket" "b" { bucket_name = "mistaken" }`, []string{"AWS_SECRET_ACCESS_KEY=wrong"}, []string{"are the credentials right", "s3.secret_key in the provider block"}},
		"WrongPassword":    {`resource "koldun_key_value" "a" { bucket = "mistaken" }`, []string{"NATS_PASSWORD=wrong"}, []string{"the server refuses user", "nats.password"}},
		"StoreIsDown":      {`resource "koldun_bucket" "b" { bucket_name = "mistaken" }`, []string{"AWS_ENDPOINT_URL_S3=http://127.0.0.1:1"}, []string{"is the server up", "AWS_ENDPOINT_URL_S3"}},
		"NoModelSplitsSo":  {strings.Replace(dllama, "\n}", "\n  nodes = 3\n  engine = { type = \"embedded\" }\n}", 1), nil, []string{"the embedded engine runs on 1 node"}},
		"Exists": {`resource "koldun_key_value" "a" { bucket = "twice" }
resource "koldun_key_value" "b" {
  depends_on = [koldun_key_value.a]
  bucket     = "twice"
}`, nil, []string{`"twice" exists already`, "import koldun_key_value.NAME"}},
	} {
		t.Run(name, func(t *testing.T) {
			m.Test(t, lookup(append(slices.Clone(env), mistake.env...)), resource.TestStep{Config: head + mistake.config, ExpectError: wrapped(mistake.want...)})
		})
	}
}

// TestExpiredTokenIsAWarning validates a token that has expired. It is no error,
// because the same configuration was valid before.
func TestExpiredTokenIsAWarning(t *testing.T) {
	f := mirror(t).Folder(t, head+`resource "koldun_token" "t" {
  name    = "t"
  sha256  = sha256("a-token-of-old")
  expires = "2020-01-31T00:00:00Z"
}`, servers(t)...)
	if out := f.OK("validate"); !strings.Contains(out, "The token has ended") {
		t.Errorf("output of validate:\n%s", out)
	}
}
