package provider

import (
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/terraform-provider/internal/clients"
)

// natsBlock returns the settings of NATS from attributes and environment.
func natsBlock(t *testing.T, attributes, env map[string]string) bus.Config {
	t.Helper()
	out, d := readNATS(t, attributes, env)
	if d.HasError() {
		t.Fatal(d)
	}
	return out
}

func readNATS(t *testing.T, attributes, env map[string]string) (bus.Config, diag.Diagnostics) {
	t.Helper()
	out, d := readBlock(t, clients.NATS, attributes, env)
	return out.NATS, d
}

// readBlock reads the settings of a configuration with one block.
func readBlock(t *testing.T, system clients.System, attributes, env map[string]string) (clients.Settings, diag.Diagnostics) {
	t.Helper()
	p := New("dev", func(string) string { return "" })
	var resp provider.SchemaResponse
	p.Schema(t.Context(), provider.SchemaRequest{}, &resp)
	whole := resp.Schema.Type().TerraformType(t.Context()).(tftypes.Object)
	values := map[string]tftypes.Value{}
	for name, of := range whole.AttributeTypes {
		values[name] = tftypes.NewValue(of, nil)
	}
	block := whole.AttributeTypes[string(system)].(tftypes.Object)
	inner := map[string]tftypes.Value{}
	for name, of := range block.AttributeTypes {
		inner[name] = tftypes.NewValue(of, nil)
	}
	for name, v := range attributes {
		if inner[name].Type() == nil {
			t.Fatalf("the block %s has no attribute %q", system, name)
		}
		inner[name] = tftypes.NewValue(tftypes.String, v)
	}
	values[string(system)] = tftypes.NewValue(block, inner)
	var d diag.Diagnostics
	out := read(t.Context(), tfsdk.Config{Schema: resp.Schema, Raw: tftypes.NewValue(whole, values)}, func(name string) string { return env[name] }, &d)
	return out, d
}

// The session token of the environment belongs to the keys there, not to those of the
// block.
func TestSessionTokenOfTheEnvironment(t *testing.T) {
	env := map[string]string{"AWS_ACCESS_KEY_ID": "ek", "AWS_SECRET_ACCESS_KEY": "es", "AWS_SESSION_TOKEN": "et"}
	for name, c := range map[string]struct {
		block map[string]string
		want  s3store.Config
	}{
		"Environment": {map[string]string{"endpoint": "http://h"}, s3store.Config{Endpoint: "http://h", AccessKey: "ek", SecretKey: "es", SessionToken: "et"}},
		"Keys":        {map[string]string{"access_key": "k", "secret_key": "s"}, s3store.Config{AccessKey: "k", SecretKey: "s"}},
		"AccessKey":   {map[string]string{"access_key": "k"}, s3store.Config{AccessKey: "k", SecretKey: "es"}},
		"All":         {map[string]string{"access_key": "k", "secret_key": "s", "session_token": "t"}, s3store.Config{AccessKey: "k", SecretKey: "s", SessionToken: "t"}},
	} {
		got, d := readBlock(t, clients.S3, c.block, env)
		if d.HasError() || got.S3 != c.want {
			t.Errorf("%s: got %+v, %v; want %+v", name, got.S3, d, c.want)
		}
	}
}

// Each key of the operator comes from the block or from the environment.
func TestKeysOfTheOperator(t *testing.T) {
	env := map[string]string{
		"NATS_OPERATOR_URL": "nats://env", "NATS_OPERATOR_SIGNING_KEY": "SOE", "NATS_OPERATOR_SYSTEM_CREDS": "-----BEGIN", "NATS_OPERATOR_ACCOUNTS_KEY": "ek\n",
		"NATS_OPERATOR_SERVERS": "3", "NATS_OPERATOR_CA": "PEM",
	}
	for name, c := range map[string]struct {
		block map[string]string
		env   map[string]string
		want  clients.Operator
	}{
		"Nothing": {nil, nil, clients.Operator{Count: 1}},
		"Environment": {nil, env, clients.Operator{
			Servers: bus.Config{URL: "nats://env", CA: "PEM"}, Signing: "SOE", System: "-----BEGIN", Keyring: "ek", Count: 3,
		}},
		"Block": {map[string]string{"url": "nats://h", "signing_key": "SO", "system_creds": "c", "accounts_key": "k\n", "ca_pem": "p", "client_cert_pem": "cert", "client_key_pem": "key"}, env, clients.Operator{
			Servers: bus.Config{URL: "nats://h", CA: "p", Cert: "cert", Key: "key"}, Signing: "SO", System: "c", Keyring: "k", Count: 3,
		}},
	} {
		got, d := readBlock(t, clients.NATSOperator, c.block, c.env)
		got.Operator.Servers.Name = ""
		if d.HasError() || got.Operator != c.want {
			t.Errorf("%s: got %+v, %v; want %+v", name, got.Operator, d, c.want)
		}
	}
	if got, d := readBlock(t, clients.NATSOperator, nil, map[string]string{"NATS_OPERATOR_SERVERS": "many"}); d.HasError() || got.Operator.Count != 0 {
		t.Errorf("many servers: got %d, %v; want 0 for what needs them", got.Operator.Count, d)
	}
}

// The login of the block is not mixed with another one in the environment, and the
// variables that hold paths for the nats CLI are not read as PEM.
func TestLoginOfTheBlockWins(t *testing.T) {
	env := map[string]string{
		"NATS_USER": "eu", "NATS_PASSWORD": "ep", "NATS_TOKEN": "et", "NATS_NKEY_SEED": "en", "NATS_CREDS": "/ec",
		"NATS_CA": "/ca.pem", "NATS_CERT": "/cert.pem", "NATS_KEY": "/key.pem",
	}
	for attribute, want := range map[string]bus.Config{
		"user":       {User: "x", Password: "ep"},
		"token":      {Token: "x"},
		"nkey_seed":  {NKeySeed: "x"},
		"creds":      {Creds: "x"},
		"creds_file": {CredsFile: "x"},
		"url":        {URL: "x", User: "eu", Password: "ep", Token: "et", NKeySeed: "en", CredsFile: "/ec"},
	} {
		got := natsBlock(t, map[string]string{attribute: "x"}, env)
		got.Name = ""
		if got != want {
			t.Errorf("%s: got %+v, want %+v", attribute, got, want)
		}
	}
	const ca = "-----BEGIN CERTIFICATE-----"
	if got := natsBlock(t, nil, map[string]string{"NATS_CA": ca}); got.CA != ca {
		t.Errorf("NATS_CA with a certificate: got %q", got.CA)
	}
	_, d := readNATS(t, map[string]string{"password": "p", "token": "t"}, nil)
	if len(d) != 1 || d[0].Detail() != "The block nats has password and token. A connection has one login: remove the other." {
		t.Errorf("two logins: got %v", d)
	}
}

// Each login of a connection of the Crossplane provider can be configured, and read
// from the environment that a connection Secret holds.
func TestEachLoginOfNATS(t *testing.T) {
	for attribute, want := range map[string]bus.Config{
		"user": {User: "x"}, "password": {Password: "x"}, "token": {Token: "x"}, "nkey_seed": {NKeySeed: "x"}, "creds": {Creds: "x"},
		"creds_file": {CredsFile: "x"}, "inbox_prefix": {InboxPrefix: "x"}, "ca_pem": {CA: "x"}, "client_cert_pem": {Cert: "x"}, "client_key_pem": {Key: "x"}, "url": {URL: "x"},
	} {
		got := natsBlock(t, map[string]string{attribute: "x"}, nil)
		got.Name = ""
		if got != want {
			t.Errorf("%s: got %+v", attribute, got)
		}
	}
	full := bus.Config{URL: "nats://h", User: "u", Password: "p", Token: "t", NKeySeed: "SU", Creds: "-----BEGIN NATS USER JWT-----"}
	env := map[string]string{}
	for name, v := range full.Env() {
		env[name] = string(v)
	}
	got := natsBlock(t, nil, env)
	got.Name = ""
	if got != full {
		t.Errorf("from the environment: got %+v, want %+v", got, full)
	}
	// A field that a connection gains has to be an attribute, too.
	settings := 0
	for i := range reflect.TypeFor[bus.Config]().NumField() {
		if f := reflect.TypeFor[bus.Config]().Field(i); f.Type.Kind() == reflect.String && f.Name != "Name" {
			settings++
		}
	}
	if n := len(blocks()[clients.NATS]); n != settings {
		t.Errorf("the block has %d attributes, a connection has %d settings", n, settings)
	}
}
