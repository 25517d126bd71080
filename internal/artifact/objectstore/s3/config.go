package s3

import (
	"strings"

	"github.com/gorizond/koldun/internal/names"
)

// DefaultRegion is used when none is configured; gateways other than Amazon's
// mostly ignore it.
const DefaultRegion = "us-east-1"

// A Config is the address of an S3 service and the credentials for it. The zero
// value means Amazon's service and the credentials that the AWS SDK finds
// (environment, shared files, pod identity).
type Config struct {
	Endpoint     string // http(s)://host:port; empty: Amazon's
	Addressing   string // AddressPath or AddressVirtual; empty: by path with an endpoint, else virtual
	Region       string // empty: DefaultRegion
	AccessKey    string // empty: the SDK searches for credentials
	SecretKey    string
	SessionToken string
	Credentials  string // path of a file with temporary credentials, or its content; in place of the keys above
	Anonymous    bool   // requests are not signed; the SDK searches for nothing
	CAFile       string // PEM file of authorities trusted beside the system's
	CA           string // the same as PEM text; takes precedence over CAFile
	// PlainParts writes parts without a CRC32, for services that refuse it. The
	// signature of the request then covers the bytes.
	PlainParts bool
	// STS makes temporary credentials for others. The zero value makes none.
	STS STS
	// Bound limits which folders others get credentials for, and which are read for them.
	Bound *Bound
}

// The ways in which requests name a bucket.
const (
	AddressPath    = "path"    // https://host/bucket
	AddressVirtual = "virtual" // https://bucket.host
)

// checksumsWhenRequired is the value of the AWS tools for Config.PlainParts.
const checksumsWhenRequired = "when_required"

// PlainParts reports whether a value of names.EnvS3Checksums asks for parts without a checksum.
func PlainParts(checksums string) bool { return strings.EqualFold(checksums, checksumsWhenRequired) }

// ConfigFromEnv reads the variables of the AWS tools. AWS_CA_BUNDLE may hold
// certificates in place of a path. getenv is os.Getenv outside of tests.
func ConfigFromEnv(getenv func(string) string) Config {
	first := func(keys ...string) string {
		for _, k := range keys {
			if v := strings.TrimSpace(getenv(k)); v != "" {
				return v
			}
		}
		return ""
	}
	authority := first(names.EnvS3CA)
	file, text := authority, ""
	if strings.HasPrefix(authority, pemBegin) {
		file, text = "", authority // from a Secret
	}
	return Config{
		Endpoint:     first(names.EnvS3Endpoint, "AWS_ENDPOINT_URL"),
		Region:       first(names.EnvS3Region, "AWS_DEFAULT_REGION"),
		AccessKey:    first(names.EnvS3AccessKey),
		SecretKey:    first(names.EnvS3SecretKey),
		SessionToken: first(names.EnvS3Session),
		Credentials:  first(names.EnvS3Credentials),
		Anonymous:    first(names.EnvS3Anonymous) == "true",
		CAFile:       file,
		CA:           text,
		Addressing:   first(names.EnvS3Addressing),
		PlainParts:   PlainParts(first(names.EnvS3Checksums)),
	}
}

// Env returns the non-empty fields as environment variables. They hold secrets.
func (c Config) Env() map[string][]byte {
	authority := c.CA
	if authority == "" {
		authority = c.CAFile
	}
	out := map[string][]byte{}
	if c.Anonymous {
		out[names.EnvS3Anonymous] = []byte("true")
	}
	if c.PlainParts {
		out[names.EnvS3Checksums] = []byte(checksumsWhenRequired)
	}
	for name, value := range map[string]string{
		names.EnvS3Endpoint:  c.Endpoint,
		names.EnvS3Region:    c.Region,
		names.EnvS3AccessKey: c.AccessKey,
		names.EnvS3SecretKey: c.SecretKey,
		names.EnvS3Session:   c.SessionToken,
		names.EnvS3CA:        authority,

		names.EnvS3Credentials: c.Credentials,
		names.EnvS3Addressing:  c.Addressing,
	} {
		if value != "" {
			out[name] = []byte(value)
		}
	}
	return out
}

// pemBegin is the prefix of PEM text.
const pemBegin = "-----BEGIN"
