package connpool

import (
	"strings"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// credentials are the data of a Secret. Its keys are compared without case and
// punctuation, as tools write them in many ways: AWS_ACCESS_KEY_ID,
// aws-access-key-id and awsAccessKeyId are the same.
type credentials map[string]string

func readCredentials(data map[string][]byte) credentials {
	out := credentials{}
	for key, value := range data {
		// A line break at the end comes from an editor.
		out[plain(key)] = strings.TrimRight(string(value), "\r\n")
	}
	return out
}

func plain(key string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(key))
}

// first returns the value of the first key that exists.
func (c credentials) first(keys ...string) string {
	for _, k := range keys {
		if v := c[plain(k)]; v != "" {
			return v
		}
	}
	return ""
}

// nats adds the credentials for NATS to its settings.
func (c credentials) nats(cfg *bus.Config) {
	if cfg.URL == "" {
		cfg.URL = c.first("url", "NATS_URL")
	}
	cfg.User = c.first("user", "username", "NATS_USER")
	cfg.Password = c.first("password", "NATS_PASSWORD")
	cfg.Token = c.first("token", "NATS_TOKEN")
	cfg.Creds = c.first("creds", "NATS_CREDS", "user.creds")
	cfg.NKeySeed = c.first("nkey", "seed", "NATS_NKEY", "NATS_NKEY_SEED")
	if jwt := c.first("jwt", "NATS_JWT"); jwt != "" && cfg.NKeySeed != "" && cfg.Creds == "" {
		cfg.Creds, cfg.NKeySeed = decorate(jwt, cfg.NKeySeed), ""
	}
	cfg.InboxPrefix = c.first("inboxPrefix", "NATS_INBOX_PREFIX")
	cfg.CA = c.first("ca.crt", "NATS_CA")
	cfg.Cert = c.first("tls.crt", "NATS_CERT")
	cfg.Key = c.first("tls.key", "NATS_KEY")
}

// operator returns the keys of an operator, who asks the servers.
func (c credentials) operator(servers bus.Config) (operatorAccess, error) {
	out := operatorAccess{
		system: servers, signing: natsauth.Seed(c.first(natsauth.SecretSigning, "operator.seed")),
		keyring: natsauth.Keyring(c.first(natsauth.SecretAccounts)),
	}
	out.system.WithoutJetStream, out.system.Creds = true, c.first(natsauth.SecretSystem)
	life, ok := natsauth.LifeOf(out.system.Creds)
	switch {
	case out.signing == "":
		return out, fault.Errorf(fault.Invalid, "it has no key operator.nk with the seed of a signing key of the operator")
	case !ok:
		return out, fault.Errorf(fault.Invalid, "it has no key system.creds with the credentials file of a user of the system account")
	}
	out.system.InboxPrefix = natsauth.InboxPrefix(life.User)
	return out, out.keyring.Check()
}

// s3 adds the credentials for an object store to its settings, and the other settings that
// they lack.
func (c credentials) s3(cfg *s3store.Config) {
	if cfg.Addressing == "" {
		cfg.Addressing = c.first(names.EnvS3Addressing)
	}
	cfg.PlainParts = cfg.PlainParts || s3store.PlainParts(c.first(names.EnvS3Checksums))
	if cfg.Region == "" {
		cfg.Region = c.first("AWS_REGION", "AWS_DEFAULT_REGION", "region")
	}
	cfg.AccessKey = c.first("AWS_ACCESS_KEY_ID", "accessKeyId", "accessKey")
	cfg.SecretKey = c.first("AWS_SECRET_ACCESS_KEY", "secretAccessKey", "secretKey")
	cfg.SessionToken = c.first("AWS_SESSION_TOKEN", "sessionToken")
	cfg.CA = c.first("ca.crt", "AWS_CA_BUNDLE")
}

// hubToken returns the token of a hub.
func (c credentials) hubToken() string { return c.first("token", "HF_TOKEN") }

// decorate makes the text of a credentials file (docs.nats.io, "User
// credentials") of a user's JWT and seed.
func decorate(jwt, seed string) string {
	return "-----BEGIN NATS USER JWT-----\n" + jwt + "\n------END NATS USER JWT------\n\n" +
		"-----BEGIN USER NKEY SEED-----\n" + seed + "\n------END USER NKEY SEED------\n"
}
