// Package acceptance tests the provider with a real OpenTofu, and with a real
// Terraform if it is on PATH.
package acceptance

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	tfconfig "github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/terraform-provider/clitest"
	"github.com/gorizond/koldun/test/cluster"
)

// shared is an API server with our CRDs and no controllers for them.
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

// servers starts a NATS server and returns its connection and that of the object
// store, as environment variables. NATS_URL is the first.
func servers(t testing.TB) []string {
	t.Helper()
	return serversWith(t, s3test.New(t))
}

// serversWith is servers with a bucket that exists.
func serversWith(t testing.TB, b *s3test.Bucket) []string {
	t.Helper()
	n := natstest.Start(t)
	return []string{
		"NATS_URL=" + n.URL(), "NATS_USER=" + natstest.User, "NATS_PASSWORD=" + natstest.Password,
		"AWS_ENDPOINT_URL_S3=" + b.Config.Endpoint, "AWS_REGION=" + b.Config.Region,
		"AWS_ACCESS_KEY_ID=" + b.Config.AccessKey, "AWS_SECRET_ACCESS_KEY=" + b.Config.SecretKey,
	}
}

// mirror returns the mirror with OpenTofu, which all tests share.
func mirror(t testing.TB) *clitest.Mirror {
	t.Helper()
	once.Do(func() { built = clitest.NewMirror(t) })
	if built == nil {
		t.Skip("OpenTofu is not built; run: make bin/tofu")
	}
	return built
}

// each runs a test with OpenTofu, and with Terraform if it is on PATH. It is for
// tests in which the two may differ: they run every operation of a resource, import
// by identity, and keep ephemeral values out of their files. What only the provider
// does is tested with OpenTofu alone.
func each(t *testing.T, test func(*testing.T, *clitest.Mirror)) {
	t.Helper()
	t.Run("OpenTofu", func(t *testing.T) { test(t, mirror(t)) })
	t.Run("Terraform", func(t *testing.T) { test(t, mirror(t).Terraform(t)) })
}

var (
	once  sync.Once       //nolint:gochecknoglobals // one build for all tests
	built *clitest.Mirror //nolint:gochecknoglobals // one build for all tests
)

func TestManagedResources(t *testing.T) { each(t, managedResources) }

// managedResources creates a resource of each store, imports it, changes one and
// destroys all. The framework fails a step whose plan after apply is not empty.
func managedResources(t *testing.T, m *clitest.Mirror) {
	const config = head + `
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
`
	const bucket, stream, keyValue = "koldun_bucket.models", "koldun_stream.requests", "koldun_key_value.demand"
	actions := func(ofBucket, ofStream, ofKeyValue plancheck.ResourceActionType) []plancheck.PlanCheck {
		return []plancheck.PlanCheck{
			plancheck.ExpectResourceAction(bucket, ofBucket), plancheck.ExpectResourceAction(stream, ofStream),
			plancheck.ExpectResourceAction(keyValue, ofKeyValue),
		}
	}
	imports := func(address, id string) resource.TestStep {
		return resource.TestStep{ResourceName: address, ImportState: true, ImportStateKind: resource.ImportBlockWithID, ImportStateId: id}
	}
	maxBytes := tfjsonpath.New("max_bytes")
	steps := []resource.TestStep{
		{
			Config:           config,
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: actions(plancheck.ResourceActionCreate, plancheck.ResourceActionCreate, plancheck.ResourceActionCreate)},
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownOutputValue("region", knownvalue.StringExact("us-east-1")),
				statecheck.ExpectKnownValue(stream, maxBytes, knownvalue.Int64Exact(1<<20)),
			},
		},
		imports(stream, "acceptance"),
		imports(keyValue, "acceptance"),
		imports(bucket, "acceptance-models"),
		{
			Config: config, ConfigVariables: tfconfig.Variables{"max_bytes": tfconfig.IntegerVariable(2 << 20)},
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: append(actions(plancheck.ResourceActionNoop, plancheck.ResourceActionUpdate, plancheck.ResourceActionNoop),
				plancheck.ExpectKnownValue(stream, maxBytes, knownvalue.Int64Exact(2<<20)))},
		},
	}
	// The object does not store force_destroy, so that no import reads it: the plan sets it in place.
	steps[3].ExpectNonEmptyPlan = true
	steps[3].ImportPlanChecks.PreApply = []plancheck.PlanCheck{plancheck.ExpectResourceAction(bucket, plancheck.ResourceActionUpdate)}
	env := servers(t)
	m.Test(t, lookup(env), steps...)
	if _, err := connect(t, env).JetStream().Stream(t.Context(), "acceptance"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("the stream exists after destroy: %v", err)
	}
}

func TestValidateNamesTheAttribute(t *testing.T) {
	f := mirror(t).Folder(t, head+`
resource "koldun_stream" "s" {
  name     = "a b"
  subjects = ["s"]
}
resource "koldun_dllama" "d" {
  name          = "d"
  model_ref     = { name = "m" }
  replica_power = 2
  engine        = { type = "embedded" }
}
`)
	r := f.Run("validate")
	for _, want := range []string{`name     = "a b"`, "replica_power = 2", "the embedded engine runs on 1 node"} {
		if r.Exit == 0 || !strings.Contains(strings.Join(strings.Fields(r.Out), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("output of validate lacks %q:\n%s", want, r.Out)
		}
	}
}

// lookup returns a getenv of environment variables. The last of a name counts.
func lookup(env []string) func(string) string {
	values := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}

// wrapped matches texts in a message of the CLI, which wraps lines and draws a
// bar before each. The texts may come in any order if there are two.
func wrapped(texts ...string) *regexp.Regexp {
	var patterns []string
	for _, text := range texts {
		words := strings.Fields(text)
		for i, w := range words {
			words[i] = regexp.QuoteMeta(w)
		}
		patterns = append(patterns, strings.Join(words, `[\s│╷╵]+`))
	}
	all := strings.Join(patterns, ".*")
	slices.Reverse(patterns)
	return regexp.MustCompile("(?s)" + all + "|" + strings.Join(patterns, ".*"))
}
