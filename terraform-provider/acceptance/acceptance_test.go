// Package acceptance drives the provider with a real OpenTofu, and a real
// Terraform if there is one.
package acceptance

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
	"github.com/gorizond/koldun/terraform-provider/internal/tofu"
	"github.com/gorizond/koldun/test/cluster"
)

// shared is an API server that knows our kinds, with nobody who acts on them.
var shared = cluster.Shared{Options: cluster.Options{ControlPlaneOnly: true, Manifests: cluster.Definitions(cluster.ClaimGroup)}} //nolint:gochecknoglobals // one cluster for all tests

func TestMain(m *testing.M) {
	status := s3test.Run(m)
	shared.Stop()
	os.Exit(status)
}

const head = `terraform {
  required_providers {
    koldun = { source = "gorizond/koldun" }
  }
}
`

// outside is a NATS server and an object store, as environment variables.
func outside(t testing.TB) []string {
	t.Helper()
	return with(t, s3test.New(t))
}

// with is outside with a bucket that there is.
func with(t testing.TB, b *s3test.Bucket) []string {
	t.Helper()
	n := natstest.Start(t)
	return []string{
		"NATS_URL=" + n.URL(), "NATS_USER=" + natstest.User, "NATS_PASSWORD=" + natstest.Password,
		"AWS_ENDPOINT_URL_S3=" + b.Config.Endpoint, "AWS_REGION=" + b.Config.Region,
		"AWS_ACCESS_KEY_ID=" + b.Config.AccessKey, "AWS_SECRET_ACCESS_KEY=" + b.Config.SecretKey,
	}
}

// mirror is built once.
func mirror(t testing.TB) *tofu.Mirror {
	t.Helper()
	once.Do(func() { built = tofu.NewMirror(t) })
	if built == nil {
		t.Skip("OpenTofu is not built; run: make bin/tofu")
	}
	return built
}

// each runs a test with OpenTofu, and with Terraform if it is on PATH.
func each(t *testing.T, test func(*testing.T, *tofu.Mirror)) {
	t.Helper()
	t.Run("OpenTofu", func(t *testing.T) { test(t, mirror(t)) })
	t.Run("Terraform", func(t *testing.T) { test(t, mirror(t).Terraform(t)) })
}

var (
	once  sync.Once    //nolint:gochecknoglobals // one build for all tests
	built *tofu.Mirror //nolint:gochecknoglobals // one build for all tests
)

func TestLifeOfOutsideThings(t *testing.T) { each(t, lifeOfOutsideThings) }

func lifeOfOutsideThings(t *testing.T, m *tofu.Mirror) {
	f := m.Folder(t, head+`
variable "max_bytes" { default = 1048576 }
resource "koldun_bucket" "models" {
  bucket_name   = "acceptance-models"
  force_destroy = true
}
resource "koldun_stream" "requests" {
  name      = "acceptance"
  subjects  = ["acceptance.>"]
  max_age   = "24h"
  max_bytes = var.max_bytes
}
resource "koldun_key_value" "demand" {
  bucket           = "acceptance"
  limit_marker_ttl = "1m"
}
output "region" { value = koldun_bucket.models.status.region }
`, outside(t)...)
	f.OK("validate")
	if out := f.OK("apply", "-auto-approve"); !strings.Contains(out, "3 added, 0 changed, 0 destroyed") || !strings.Contains(out, `region = "us-east-1"`) {
		t.Errorf("the first apply says:\n%s", out)
	}
	if r := f.Run("plan", "-detailed-exitcode"); r.Exit != 0 {
		t.Errorf("the plan after apply is not empty:\n%s", r.Out)
	}
	out := f.OK("plan", "-var", "max_bytes=2097152")
	if !strings.Contains(out, "0 to add, 1 to change, 0 to destroy") || !strings.Contains(out, "1048576 -> 2097152") {
		t.Errorf("a changed value is planned as:\n%s", out)
	}
	for address, id := range map[string]string{"koldun_bucket.models": "acceptance-models", "koldun_stream.requests": "acceptance", "koldun_key_value.demand": "acceptance"} {
		f.OK("state", "rm", address)
		f.OK("import", address, id)
	}
	// What is said of deletion is not outside, and so is not imported.
	if out := f.OK("plan"); strings.Contains(out, "must be replaced") || !strings.Contains(out, "0 to add, 1 to change") || !strings.Contains(out, "force_destroy") {
		t.Errorf("the plan after the imports is:\n%s", out)
	}
	if out := f.OK("destroy", "-auto-approve"); !strings.Contains(out, "3 destroyed") {
		t.Errorf("the end says:\n%s", out)
	}
}

func TestValidateNamesTheAttribute(t *testing.T) { each(t, validateNamesTheAttribute) }

func validateNamesTheAttribute(t *testing.T, m *tofu.Mirror) {
	f := m.Folder(t, head+`
resource "koldun_stream" "s" {
  name     = "a b"
  subjects = ["s"]
}
resource "koldun_dllama" "d" {
  name          = "d"
  model_ref     = { name = "m" }
  replica_power = 2
}
`)
	r := f.Run("validate")
	for _, want := range []string{`name     = "a b"`, "replica_power = 2", "the embedded engine runs on 1 node"} {
		if r.Exit == 0 || !strings.Contains(strings.Join(strings.Fields(r.Out), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("validate does not say %q:\n%s", want, r.Out)
		}
	}
}
