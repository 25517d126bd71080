package bus

import (
	"strings"

	"github.com/gorizond/koldun/internal/names"
)

// pemBegin is the prefix of keys, certificates and credentials.
const pemBegin = "-----BEGIN"

// ConfigFromEnv reads the variables that Env writes. getenv is os.Getenv or a
// substitute. The credentials may be the path of a file or its content.
func ConfigFromEnv(getenv func(string) string) Config {
	c := Config{
		URL:      getenv(names.EnvNATSURL),
		User:     getenv(names.EnvNATSUser),
		Password: getenv(names.EnvNATSPassword),
		Token:    getenv(names.EnvNATSToken),
		NKeySeed: getenv(names.EnvNATSNKey),
		CA:       getenv(names.EnvNATSCA),
		Cert:     getenv(names.EnvNATSCert),
		Key:      getenv(names.EnvNATSKey),

		InboxPrefix: getenv(names.EnvNATSInbox),
	}
	creds := getenv(names.EnvNATSCreds)
	if strings.HasPrefix(strings.TrimSpace(creds), pemBegin) {
		c.Creds = creds
	} else {
		c.CredsFile = creds
	}
	return c
}

// Env returns the connection as environment variables, without empty ones. It
// contains secrets.
func (c Config) Env() map[string][]byte {
	creds := c.Creds
	if creds == "" {
		creds = c.CredsFile
	}
	out := map[string][]byte{}
	for name, value := range map[string]string{
		names.EnvNATSURL:      c.URL,
		names.EnvNATSUser:     c.User,
		names.EnvNATSPassword: c.Password,
		names.EnvNATSToken:    c.Token,
		names.EnvNATSNKey:     c.NKeySeed,
		names.EnvNATSCreds:    creds,
		names.EnvNATSInbox:    c.InboxPrefix,
		names.EnvNATSCA:       c.CA,
		names.EnvNATSCert:     c.Cert,
		names.EnvNATSKey:      c.Key,
	} {
		if value != "" {
			out[name] = []byte(value)
		}
	}
	return out
}
