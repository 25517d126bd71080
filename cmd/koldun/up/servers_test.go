package up_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// claimedServers are servers that claims name, with the Secrets for them.
type claimedServers struct {
	nats  *natstest.Server
	s3    *s3test.Gateway
	files string // folder of the object store, with a folder for each bucket
}

func newClaimedServers(t *testing.T) claimedServers {
	t.Helper()
	files := t.TempDir()
	return claimedServers{nats: natstest.Start(t), s3: s3test.Start(t, files, ""), files: files}
}

func (o claimedServers) secrets() string {
	return fmt.Sprintf(`
---
apiVersion: v1
kind: Secret
metadata: {name: bus}
stringData: {user: %s, password: %s}
---
apiVersion: v1
kind: Secret
metadata: {name: store}
stringData: {accessKey: %s, secretKey: %s}
`, natstest.User, natstest.Password, o.s3.Config().AccessKey, o.s3.Config().SecretKey)
}

// config is the spec of a ProviderConfig.
func (o claimedServers) config(namespace string) string {
	return fmt.Sprintf(`
spec:
  nats: {url: '%s', secretRef: {name: bus%s}}
  s3: {endpoint: '%s', secretRef: {name: store%[2]s}}
`, o.nats.URL(), namespace, o.s3.Config().Endpoint)
}

// dllama is the quickstart with more in its spec and in that of its Model.
func dllama(spec, model string) string {
	return `
apiVersion: koldun.gorizond.io/v1
kind: Dllama
metadata: {name: koldun-tiny}
spec:
  ` + spec + `
  model:
    sourceUrl: https://huggingface.co/gorizond/koldun-tiny
    conversion: {weightsFloatType: q40}
    ` + model + `
  expose: {allowAnonymous: true}
`
}

// koldun up uses the servers that claims name, in each way to name them, prints
// which, and leaves its own without use.
func TestUpUsesTheServersOfClaims(t *testing.T) {
	programtest.WithoutRace(t)
	t.Parallel()
	cases := map[string]func(o claimedServers) string{
		"URLs": func(o claimedServers) string {
			return dllama(fmt.Sprintf("nats: {url: '%s', credentialsSecret: {name: bus}}", o.nats.URL()),
				fmt.Sprintf("objectStorage: {endpoint: '%s', secretRef: {name: store}}", o.s3.Config().Endpoint))
		},
		"Password": func(o claimedServers) string {
			url := strings.Replace(o.nats.URL(), "://", "://"+natstest.User+":"+natstest.Password+"@", 1)
			return dllama(fmt.Sprintf("nats: {url: '%s'}", url),
				fmt.Sprintf("objectStorage: {endpoint: '%s', secretRef: {name: store}}", o.s3.Config().Endpoint))
		},
		"ProviderConfig": func(o claimedServers) string {
			ref := "providerConfigRef: {kind: ProviderConfig, name: servers}"
			return dllama("nats: {"+ref+"}", "objectStorage: {"+ref+"}") +
				"---\napiVersion: koldun.m.gorizond.io/v1alpha1\nkind: ProviderConfig\nmetadata: {name: servers}" + o.config("")
		},
		"Default": func(o claimedServers) string {
			return dllama("", "") + "---\napiVersion: koldun.m.gorizond.io/v1alpha1\nkind: ClusterProviderConfig\nmetadata: {name: default}" + o.config(", namespace: default")
		},
	}
	for name, claim := range cases {
		t.Run(name, func(t *testing.T) {
			o := newClaimedServers(t)
			data := t.TempDir()
			file := filepath.Join(data, "claims.yaml")
			if err := os.WriteFile(file, []byte(claim(o)+o.secrets()), 0o600); err != nil {
				t.Fatal(err)
			}
			p := programtest.Start(t, "up", "--once", "-f", file, "--hub-dir", models, "--data", filepath.Join(data, "up"), "--port", "koldun-tiny-gateway=0")
			if code := p.Exit(t); code != 0 {
				t.Fatalf("exit status %d", code)
			}
			for _, want := range []string{answer, "NATS      " + o.nats.URL(), "Store     " + o.s3.Config().Endpoint} {
				if !strings.Contains(p.Text(), want) {
					t.Errorf("the output lacks %q", want)
				}
			}
			if strings.Contains(p.Text(), "embedded, in ") || strings.Contains(p.Text(), natstest.Password) {
				t.Error("the output names an embedded server, or shows a password")
			}
			o.used(t)
		})
	}
}

// used tests that the queue and the model are on the servers.
func (o claimedServers) used(t *testing.T) {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Config{URL: o.nats.URL(), User: natstest.User, Password: natstest.Password, Name: t.Name(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := b.JetStream().Stream(t.Context(), names.OutcomeStream); err != nil {
		t.Errorf("the queue is not on the NATS of the claims: %v", err)
	}
	buckets, err := os.ReadDir(o.files)
	if err != nil || len(buckets) == 0 {
		t.Errorf("no bucket is in the object store of the claims: %v", err)
	}
}

// A server that cannot be reached is named, with what helps, and ends --once;
// --embedded helps.
func TestUpNamesServersOutOfReach(t *testing.T) {
	programtest.WithoutRace(t)
	t.Parallel()
	o := newClaimedServers(t)
	o.nats.Stop()
	file := filepath.Join(t.TempDir(), "claims.yaml")
	if err := os.WriteFile(file, []byte(dllama(fmt.Sprintf("nats: {url: '%s'}", o.nats.URL()), "objectStorage: {providerConfigRef: {kind: ClusterProviderConfig, name: minio}}")), 0o600); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	p := programtest.Start(t, "up", "--once", "-f", file, "--hub-dir", models, "--data", data, "--port", "koldun-tiny-gateway=0")
	p.Expect(t, `cannot connect to NATS at "`+o.nats.URL()+`".*koldun up --embedded`)
	p.Expect(t, `ClusterProviderConfig "minio" does not exist.*koldun up --embedded`)
	p.Expect(t, `cannot serve Dllama default/koldun-tiny: ReconcileError: `) // names one of the causes above, or the hub
	if code := p.Exit(t); code == 0 {
		t.Error("koldun up --once succeeds without its server")
	}
	p = programtest.Start(t, "up", "--once", "--embedded", "-f", file, "--hub-dir", models, "--data", data, "--port", "koldun-tiny-gateway=0")
	if code := p.Exit(t); code != 0 || !strings.Contains(p.Text(), answer) || !strings.Contains(p.Text(), "NATS      embedded, in ") {
		t.Errorf("with --embedded: exit status %d", code)
	}
}
