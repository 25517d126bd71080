package s3

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/network/linklocal"
)

// Timeouts of requests to an S3 service. Gateways assemble or checksum a part
// before they answer, so a response may take long.
const (
	dialTimeout     = 15 * time.Second
	responseTimeout = 2 * time.Minute
	// assembleTimeout bounds the completion of an upload: simple gateways copy
	// all parts before they answer.
	assembleTimeout = 30 * time.Minute
	writeTimeout    = time.Minute // for the service to accept the next bytes of a request
	attempts        = 3
	maxBackoff      = 3 * time.Second
)

// NewClient returns a client of the service. It sends no request. Errors:
// Invalid.
func NewClient(ctx context.Context, cfg Config) (*s3.Client, error) {
	if cfg.Region == "" {
		cfg.Region = DefaultRegion
	}
	switch cfg.Addressing {
	case "", AddressPath, AddressVirtual:
	default:
		return nil, fault.Errorf(fault.Invalid, "cannot address buckets as %q: want path or virtual (%s)", cfg.Addressing, names.EnvS3Addressing)
	}
	client, err := newHTTPClient(cfg)
	if err != nil {
		return nil, err
	}
	loaded, err := credentialsOf(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return s3.NewFromConfig(loaded, func(o *s3.Options) {
		o.HTTPClient = client
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = attempts
			o.MaxBackoff = maxBackoff
		})
		// Parts carry a CRC32 of ours; the SDK adds one where S3 requires it.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		if cfg.Endpoint != "" {
			o.BaseEndpoint = aws.String(cfg.Endpoint)
		}
		o.UsePathStyle = cfg.Addressing == AddressPath || cfg.Addressing == "" && cfg.Endpoint != ""
	}), nil
}

// credentialsOf returns the configuration that the SDK signs with. With keys in
// cfg the SDK reads neither environment nor files nor the network.
func credentialsOf(ctx context.Context, cfg Config) (aws.Config, error) {
	if cfg.Anonymous {
		return aws.Config{Region: cfg.Region, Credentials: aws.AnonymousCredentials{}}, nil
	}
	if cfg.Credentials != "" {
		return aws.Config{Region: cfg.Region, Credentials: aws.NewCredentialsCache(sessionFile(cfg.Credentials))}, nil
	}
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

// An httpClient has one client for most calls and one for slow calls.
type httpClient struct{ quick, patient *http.Client }

func newHTTPClient(cfg Config) (*httpClient, error) {
	quick, err := newTransport(cfg)
	if err != nil {
		return nil, err
	}
	slow := quick.Clone()
	slow.ResponseHeaderTimeout = assembleTimeout
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &httpClient{
		quick:   &http.Client{Transport: quick, CheckRedirect: stay},
		patient: &http.Client{Transport: slow, CheckRedirect: stay},
	}, nil
}

func (c *httpClient) Do(r *http.Request) (*http.Response, error) { return c.quick.Do(r) }

// patient makes one call wait up to assembleTimeout for its answer.
func patient(o *s3.Options) {
	if c, ok := o.HTTPClient.(*httpClient); ok {
		o.HTTPClient = c.patient
	}
}

func newTransport(cfg Config) (*http.Transport, error) {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second, Control: linklocal.Refuse}
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

// A writeWatch fails a write when the other side stops reading for writeTimeout.
type writeWatch struct{ net.Conn }

// watchChunk is the most bytes that one deadline covers, so that a slow
// connection does not count as a dead one.
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
