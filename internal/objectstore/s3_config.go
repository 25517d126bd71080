package objectstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// DefaultRegion is used when none is configured; gateways other than Amazon's
// mostly ignore it.
const DefaultRegion = "us-east-1"

// S3Config says how to reach an S3 service. The zero value means Amazon's
// service and whatever credentials the AWS SDK finds by itself (environment,
// shared files, pod identity).
type S3Config struct {
	Endpoint     string // http(s)://host:port; empty: Amazon's. With one, buckets are addressed by path
	Region       string // empty: DefaultRegion
	AccessKey    string // empty: the SDK's own search for credentials
	SecretKey    string
	SessionToken string
	CAFile       string // PEM file of authorities trusted beside the system's
	CA           string // the same as text; it wins over CAFile
	// PlainParts writes parts without the CRC32 that the service is to check,
	// for services that refuse it. Their signature covers the bytes then.
	PlainParts bool
}

// S3ConfigFromEnv reads the variables of the AWS tools; that of authorities may
// also hold the certificates themselves. getenv is os.Getenv or
// a stand-in.
func S3ConfigFromEnv(getenv func(string) string) S3Config {
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
		file, text = "", authority // from a Secret, where there are no files
	}
	return S3Config{
		Endpoint:     first(names.EnvS3Endpoint, "AWS_ENDPOINT_URL"),
		Region:       first(names.EnvS3Region, "AWS_DEFAULT_REGION"),
		AccessKey:    first(names.EnvS3AccessKey),
		SecretKey:    first(names.EnvS3SecretKey),
		SessionToken: first(names.EnvS3Session),
		CAFile:       file,
		CA:           text,
		PlainParts:   strings.EqualFold(first("AWS_REQUEST_CHECKSUM_CALCULATION"), "when_required"),
	}
}

// Env is the connection as environment variables, without those that are
// empty. It holds secrets.
func (c S3Config) Env() map[string][]byte {
	authority := c.CA
	if authority == "" {
		authority = c.CAFile
	}
	out := map[string][]byte{}
	for name, value := range map[string]string{
		names.EnvS3Endpoint:  c.Endpoint,
		names.EnvS3Region:    c.Region,
		names.EnvS3AccessKey: c.AccessKey,
		names.EnvS3SecretKey: c.SecretKey,
		names.EnvS3Session:   c.SessionToken,
		names.EnvS3CA:        authority,
	} {
		if value != "" {
			out[name] = []byte(value)
		}
	}
	return out
}

// pemBegin is how text begins that holds keys or certificates.
const pemBegin = "-----BEGIN"

// Waiting times for an S3 service. A response may be slow in coming: gateways
// assemble or checksum a part before they answer.
const (
	dialTimeout     = 15 * time.Second
	responseTimeout = 2 * time.Minute
	// assembleTimeout is for the end of an upload: simple gateways copy all its
	// parts before they answer.
	assembleTimeout = 30 * time.Minute
	writeTimeout    = time.Minute // without a byte of the request being taken
	s3Attempts      = 3
	s3MaxBackoff    = 3 * time.Second
)

// NewS3Client makes a client of the service. It asks no server. Errors:
// Invalid.
func NewS3Client(ctx context.Context, cfg S3Config) (*s3.Client, error) {
	if cfg.Region == "" {
		cfg.Region = DefaultRegion
	}
	client, err := newS3HTTP(cfg)
	if err != nil {
		return nil, err
	}
	loaded, err := s3Credentials(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return s3.NewFromConfig(loaded, func(o *s3.Options) {
		o.HTTPClient = client
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = s3Attempts
			o.MaxBackoff = s3MaxBackoff
		})
		// Parts carry a CRC32 of ours; what else needs a checksum gets one.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		if cfg.Endpoint != "" {
			o.BaseEndpoint = aws.String(cfg.Endpoint)
			o.UsePathStyle = true
		}
	}), nil
}

// s3Credentials is what the SDK needs to sign. With keys given, nothing else
// is looked at: neither environment nor files nor the network.
func s3Credentials(ctx context.Context, cfg S3Config) (aws.Config, error) {
	if cfg.AccessKey == "" && cfg.SecretKey == "" {
		loaded, err := config.LoadDefaultConfig(ctx, config.WithRegion(cfg.Region))
		if err != nil {
			return aws.Config{}, fault.Errorf(fault.Invalid, "cannot configure S3: %w", err)
		}
		return loaded, nil
	}
	if cfg.AccessKey == "" || cfg.SecretKey == "" {
		return aws.Config{}, fault.Errorf(fault.Invalid, "cannot use S3 credentials: access key and secret key must both be set")
	}
	keys := credentials.NewStaticCredentialsProvider(cfg.AccessKey, cfg.SecretKey, cfg.SessionToken)
	return aws.Config{Region: cfg.Region, Credentials: aws.NewCredentialsCache(keys)}, nil
}

// s3HTTP has one client for most calls and one for calls that take long.
type s3HTTP struct{ quick, patient *http.Client }

func newS3HTTP(cfg S3Config) (*s3HTTP, error) {
	quick, err := s3Transport(cfg)
	if err != nil {
		return nil, err
	}
	slow := quick.Clone()
	slow.ResponseHeaderTimeout = assembleTimeout
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &s3HTTP{
		quick:   &http.Client{Transport: quick, CheckRedirect: stay},
		patient: &http.Client{Transport: slow, CheckRedirect: stay},
	}, nil
}

func (c *s3HTTP) Do(r *http.Request) (*http.Response, error) { return c.quick.Do(r) }

// patient makes one call wait long for its answer.
func patient(o *s3.Options) {
	if c, ok := o.HTTPClient.(*s3HTTP); ok {
		o.HTTPClient = c.patient
	}
}

func s3Transport(cfg S3Config) (*http.Transport, error) {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &writeWatch{Conn: c}, nil
		},
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       60 * time.Second,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: responseTimeout,
		ExpectContinueTimeout: time.Second,
		WriteBufferSize:       128 << 10,
		ReadBufferSize:        128 << 10,
		DisableCompression:    true,
	}
	if cfg.CA == "" && cfg.CAFile == "" {
		return t, nil
	}
	pem := []byte(cfg.CA)
	if cfg.CA == "" {
		var err error
		if pem, err = os.ReadFile(cfg.CAFile); err != nil {
			return nil, fault.Errorf(fault.Invalid, "cannot read the S3 authority file: %w", err)
		}
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fault.Errorf(fault.Invalid, "cannot use the S3 authority %q: it holds no certificate", cfg.CAFile)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return t, nil
}

// writeWatch fails a write that the other side has stopped taking.
type writeWatch struct{ net.Conn }

// watchChunk bounds what one deadline covers, so that a slow but moving
// connection is not taken for a dead one.
const watchChunk = 256 << 10

func (w *writeWatch) Write(p []byte) (int, error) {
	done := 0
	for {
		chunk := p[done:min(len(p), done+watchChunk)]
		if err := w.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return done, err
		}
		n, err := w.Conn.Write(chunk)
		done += n
		if err != nil || done == len(p) {
			return done, err
		}
	}
}
