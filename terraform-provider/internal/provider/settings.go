package provider

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/terraform-provider/internal/clients"
	"github.com/gorizond/koldun/terraform-provider/internal/kube"
)

// A setting is one attribute of a block, with the environment variable that it
// falls back to, if any.
type setting struct {
	name, env, text string
	secret          bool
	count           bool // a number of at least 1
	pem             bool // others use the variable for the path of a file, which is not read
}

// pemBegin is the prefix of keys, certificates and credentials.
const pemBegin = "-----BEGIN"

func blocks() map[clients.System][]setting {
	return map[clients.System][]setting{
		clients.NATS: {
			{name: "url", env: names.EnvNATSURL, text: "Where NATS is: `nats://host:port`, several separated by commas. Without credentials in it."},
			{name: "user", env: names.EnvNATSUser, text: "User name."},
			{name: "password", env: names.EnvNATSPassword, text: "Password of the user.", secret: true},
			{name: "token", env: names.EnvNATSToken, text: "Token, instead of user and password.", secret: true},
			{name: "nkey_seed", env: names.EnvNATSNKey, text: "Seed of an NKey, which begins with `SU`, instead of user and password.", secret: true},
			{name: "creds_file", env: names.EnvNATSCreds, text: "Path of a NATS credentials file, instead of user and password."},
			{name: "creds", text: "Content of a NATS credentials file, instead of its path.", secret: true},
			{name: "inbox_prefix", env: names.EnvNATSInbox, text: "Prefix of the subjects of answers, for users that may subscribe to no others. Left out, it is `_INBOX`."},
			{name: "ca_pem", env: names.EnvNATSCA, pem: true, text: "Authority of the servers' certificates, in PEM, instead of the system's."},
			{name: "client_cert_pem", text: "Client certificate, in PEM."},
			{name: "client_key_pem", text: "Key of the client certificate, in PEM.", secret: true},
		},
		clients.NATSOperator: {
			{name: "url", env: clients.EnvOperatorURL, text: "Where the servers are: `nats://host:port`, several separated by commas. Secrets of `koldun_nats_user` hold it as well."},
			{name: "signing_key", env: clients.EnvOperatorSigning, text: "Seed of a signing key of the servers' operator, which begins with `SO`: key `operator.nk` of the Secret `nats-operator`.", secret: true},
			{name: "system_creds", env: clients.EnvOperatorSystem, text: "Content of the credentials file of a user of the system account: key `system.creds`.", secret: true},
			{
				name: "accounts_key", env: clients.EnvOperatorAccounts, secret: true,
				text: "At least 32 random bytes, which the keys of accounts are derived from: key `accounts.key`. With others, each namespace gets another account.",
			},
			{name: "servers", env: clients.EnvOperatorServers, count: true, text: "Number of servers. Most of them have to confirm a change of an account, and all its deletion. Left out, it is 1."},
			{name: "ca_pem", env: clients.EnvOperatorCA, text: "Authority of the servers' certificates, in PEM, instead of the system's."},
			{name: "client_cert_pem", text: "Client certificate, in PEM."},
			{name: "client_key_pem", text: "Key of the client certificate, in PEM.", secret: true},
		},
		clients.S3: {
			{name: "endpoint", env: names.EnvS3Endpoint, text: "Where the object store is: `https://host:port`. Left out, it is Amazon's."},
			{name: "region", env: names.EnvS3Region, text: "Region. Left out, it is `us-east-1`."},
			{name: "addressing", env: names.EnvS3Addressing, text: "How requests name a bucket: `path` (https://HOST/BUCKET) or `virtual` (https://BUCKET.HOST). Left out, it is `path` with an endpoint, and `virtual` on AWS."},
			{name: "checksums", env: names.EnvS3Checksums, text: "Which uploads carry a checksum in a header: `when_required` for services that refuse it. Left out, all do."},
			{name: "access_key", env: names.EnvS3AccessKey, text: "Access key. Left out, the AWS SDK looks for credentials."},
			{name: "secret_key", env: names.EnvS3SecretKey, text: "Secret key.", secret: true},
			{name: "session_token", env: names.EnvS3Session, text: "Session token of temporary credentials. With a key in the block, that of the environment is not read.", secret: true},
			{name: "ca_file", env: "AWS_CA_BUNDLE", text: "PEM file of authorities that are trusted beside the system's."},
		},
		clients.Kubernetes: {
			{name: "config_path", env: "KUBECONFIG", text: "Path of a kubeconfig file."},
			{name: "context", env: "KUBE_CTX", text: "Context of the kubeconfig file. Left out, it is the current one."},
			{name: "host", env: "KUBE_HOST", text: "API server: `https://host:port`, instead of a kubeconfig file."},
			{name: "token", env: "KUBE_TOKEN", text: "Bearer token.", secret: true},
			{name: "ca_pem", env: "KUBE_CLUSTER_CA_CERT_DATA", text: "Authority of the API server's certificate, in PEM."},
			{name: "client_cert_pem", env: "KUBE_CLIENT_CERT_DATA", text: "Client certificate, in PEM."},
			{name: "client_key_pem", env: "KUBE_CLIENT_KEY_DATA", text: "Key of the client certificate, in PEM.", secret: true},
			{name: "namespace", env: "KUBE_NAMESPACE", text: "Namespace of objects that name none. Left out, it is `default`."},
		},
	}
}

// Schema has one object for each system. All attributes are optional and fall
// back to the environment, because OpenTofu configures a provider for functions
// with an empty configuration.
func (p *Provider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"adopt_existing": schema.BoolAttribute{
			Optional:    true,
			Description: "Whether a new resource takes over an object that exists with its name. Left out, that is an error that says how to import the object.",
		},
	}
	for system, settings := range blocks() {
		inner := map[string]schema.Attribute{}
		for _, s := range settings {
			text := s.text
			if s.env != "" {
				text += " Environment variable: `" + s.env + "`"
				if s.pem {
					text += ", which is not read if it holds a path"
				}
				text += "."
			}
			inner[s.name] = schema.StringAttribute{Optional: true, Sensitive: s.secret, Description: text}
			if s.count {
				inner[s.name] = schema.Int64Attribute{Optional: true, Validators: []validator.Int64{int64validator.AtLeast(1)}, Description: text}
			}
		}
		attributes[string(system)] = schema.SingleNestedAttribute{Optional: true, Attributes: inner, Description: title(system)}
	}
	resp.Schema = schema.Schema{
		Description: "Koldun serves large language models on distributed-llama. This provider manages models, their serving and what they are stored in: " +
			"the same kinds that Crossplane manages, with the same fields.",
		Attributes: attributes,
	}
}

func title(s clients.System) string {
	switch s {
	case clients.NATS:
		return "How to reach NATS. Left out, with `nats_operator`, the provider makes a user for itself in the account of the namespace of the block `kubernetes`."
	case clients.NATSOperator:
		return "How to make accounts and users on NATS servers in operator mode: `koldun_nats_account` and `koldun_nats_user` need it. " +
			"It does not depend on the block `nats`, whose login is of one account."
	case clients.S3:
		return "How to reach the object store."
	case clients.Kubernetes:
	}
	return "How to reach the Kubernetes cluster."
}

// read reads the settings. If a setting of a system is not known yet, it does not
// fall back to the environment, which may name another system.
func read(ctx context.Context, config tfsdk.Config, getenv func(string) string, d *diag.Diagnostics) clients.Settings {
	values := map[clients.System]map[string]string{}
	out := clients.Settings{Unknown: map[clients.System]bool{}}
	for system, settings := range blocks() {
		values[system] = map[string]string{}
		var block types.Object
		d.Append(config.GetAttribute(ctx, path.Root(string(system)), &block)...)
		if block.IsUnknown() {
			out.Unknown[system] = true
			continue
		}
		elsewhere := otherLogins(system, block, d)
		for _, s := range settings {
			v := block.Attributes()[s.name]
			switch {
			case v == nil || v.IsNull():
				if !elsewhere[s.name] {
					values[system][s.name] = s.of(getenv)
				}
			case v.IsUnknown():
				out.Unknown[system] = true
			default:
				values[system][s.name] = textOf(v)
			}
		}
	}
	var adopt types.Bool
	d.Append(config.GetAttribute(ctx, path.Root("adopt_existing"), &adopt)...)
	out.Adopt = adopt.ValueBool()
	nats, s3, k := values[clients.NATS], values[clients.S3], values[clients.Kubernetes]
	out.NATS = natsConfig(nats)
	out.Operator = operatorOf(values[clients.NATSOperator])
	out.S3 = s3store.Config{
		Endpoint: s3["endpoint"], Region: s3["region"], AccessKey: s3["access_key"], SecretKey: s3["secret_key"],
		SessionToken: s3["session_token"], CAFile: s3["ca_file"], Addressing: s3["addressing"], PlainParts: s3store.PlainParts(s3["checksums"]),
	}
	if configured(ctx, config, clients.Kubernetes, "host") {
		k["config_path"] = "" // the configuration wins over the environment
	} else if k["config_path"] != "" {
		k["host"] = ""
	}
	out.Kube = kube.Config{
		Path: firstPath(k["config_path"]), Context: k["context"], Host: k["host"], Token: k["token"], CAPEM: k["ca_pem"],
		CertPEM: k["client_cert_pem"], KeyPEM: k["client_key_pem"], Namespace: k["namespace"],
	}
	return out
}

// natsConfig is the connection of the block. NATS_CREDS may hold the credentials
// themselves, as in the Secrets of connections.
func natsConfig(nats map[string]string) bus.Config {
	out := bus.Config{
		URL: nats["url"], User: nats["user"], Password: nats["password"], Token: nats["token"], NKeySeed: nats["nkey_seed"],
		CredsFile: nats["creds_file"], Creds: nats["creds"], InboxPrefix: nats["inbox_prefix"],
		CA: nats["ca_pem"], Cert: nats["client_cert_pem"], Key: nats["client_key_pem"],
		Name: kube.FieldManager,
	}
	switch {
	case out.Creds != "":
		out.CredsFile = ""
	case strings.HasPrefix(out.CredsFile, pemBegin):
		out.Creds, out.CredsFile = out.CredsFile, ""
	}
	return out
}

// of returns the value that the environment gives the setting.
func (s setting) of(getenv func(string) string) string {
	value := strings.TrimSpace(getenv(s.env))
	if s.pem && !strings.HasPrefix(value, pemBegin) {
		return "" // the path of a file, as the nats CLI expects
	}
	return value
}

// textOf returns the value of a setting as the environment holds it.
func textOf(v attr.Value) string {
	if s, ok := v.(types.String); ok {
		return s.ValueString()
	}
	return v.String()
}

// operatorOf returns the keys of the block nats_operator.
func operatorOf(v map[string]string) clients.Operator {
	out := clients.Operator{
		Servers: bus.Config{URL: v["url"], CA: v["ca_pem"], Cert: v["client_cert_pem"], Key: v["client_key_pem"], Name: kube.FieldManager},
		Signing: natsauth.Seed(strings.TrimSpace(v["signing_key"])), System: v["system_creds"],
		// A line break at the end comes from an editor.
		Keyring: natsauth.Keyring(strings.TrimRight(v["accounts_key"], "\r\n")), Count: 1,
	}
	if v["servers"] != "" {
		out.Count, _ = strconv.Atoi(v["servers"]) // 0 is reported by what needs the block
	}
	return out
}

// configured reports whether the configuration itself has a setting.
func configured(ctx context.Context, config tfsdk.Config, system clients.System, name string) bool {
	var v types.String
	d := config.GetAttribute(ctx, path.Root(string(system)).AtName(name), &v)
	return !d.HasError() && !v.IsNull()
}

// firstPath returns the first file of a list such as KUBECONFIG.
func firstPath(list string) string {
	for _, p := range filepath.SplitList(list) {
		if p != "" {
			return p
		}
	}
	return ""
}
