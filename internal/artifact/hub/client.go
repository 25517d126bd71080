// Package hub reads repositories of a Hugging Face hub, or of any server that
// speaks its protocol.
//
// The protocol: a revision resolves to a commit. A file has a size and either the
// SHA-256 of its content (large files, in LFS) or its git object id. The hub
// redirects to other hosts for the bytes of large files (Hugging Face, "Hub API
// Endpoints"; huggingface_hub client).
package hub

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// DefaultEndpoint is the public hub.
const DefaultEndpoint = "https://huggingface.co"

// Timeouts and pauses. The hub counts requests in windows of five minutes ("Hub
// Rate limits"), so a client must be able to wait for the next window.
const (
	defaultAttempts = 8
	defaultMaxWait  = 10 * time.Minute
	firstPause      = 500 * time.Millisecond
	longestPause    = 30 * time.Second
	dialTimeout     = 15 * time.Second
	headerTimeout   = 60 * time.Second
	maxRedirects    = 8
)

// A Config is the address of a hub and the token for it. The zero value is the
// public hub without a token.
type Config struct {
	Endpoint string // http(s)://host[:port][/path]; empty: DefaultEndpoint
	Token    string // sent to the endpoint's host only
	// TokenFor lists the hubs that Token is for, as endpoints. New drops Token
	// unless Endpoint has the scheme, host and port of one of them. Empty: Token
	// is for Endpoint, whatever that is.
	TokenFor []string
	Reach    Reach         // hosts that it connects to
	Attempts int           // attempts per request, default 8
	MaxWait  time.Duration // the longest pause that the hub may ask for, default 10 minutes
	Log      *slog.Logger  // of retries; nil: none

	HTTP  *http.Client                                     // nil: a client of its own
	Now   func() time.Time                                 // nil: time.Now
	Sleep func(ctx context.Context, d time.Duration) error // nil: waits, and returns the cause if ctx ends first
	Rand  func() float64                                   // 0 to 1, nil: math/rand
}

// A Client reads one hub. It is safe for concurrent use. Errors of its calls:
// Denied (no or wrong token, licence not accepted), NotFound, Transient (after
// all attempts), Corrupt (an impossible answer), Invalid, Interrupted.
type Client struct {
	cfg  Config
	base *url.URL
	http *http.Client
	// withheld is set when Config.Token is for other hubs.
	withheld bool
	gates    gates
	cache    locations
}

// New returns a client. It sends no request. Errors: Invalid.
func New(cfg Config) (*Client, error) {
	if cfg.Endpoint == "" {
		cfg.Endpoint = DefaultEndpoint
	}
	base, err := url.Parse(strings.TrimRight(cfg.Endpoint, "/"))
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fault.Errorf(fault.Invalid, "cannot use hub endpoint %q: write https://HOST", cfg.Endpoint)
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, fault.Errorf(fault.Invalid, "cannot use the hub endpoint at %q: it must hold neither credentials nor a query", base.Host)
	}
	if strings.ContainsAny(cfg.Token, "\r\n") {
		return nil, fault.Errorf(fault.Invalid, "cannot use the hub token: it holds a line break")
	}
	withheld := cfg.Token != "" && len(cfg.TokenFor) > 0 && !slices.ContainsFunc(cfg.TokenFor, func(e string) bool { return origin(e) == origin(cfg.Endpoint) })
	if withheld {
		cfg.Token = ""
	}
	if cfg.Attempts <= 0 {
		cfg.Attempts = defaultAttempts
	}
	if cfg.MaxWait <= 0 {
		cfg.MaxWait = defaultMaxWait
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Sleep == nil {
		cfg.Sleep = sleep
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Float64
	}
	c := &Client{cfg: cfg, base: base, withheld: withheld, gates: gates{until: map[string]time.Time{}}, cache: locations{urls: map[string]*url.URL{}}}
	client := http.Client{Transport: newTransport(newDialer(cfg))}
	if cfg.HTTP != nil {
		client = *cfg.HTTP
	}
	// The client follows redirects itself, because only the hub may get the token.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &client
	return c, nil
}

// origin returns scheme, host and port of an endpoint in a form that compares
// equal for the same server, or "" for what is not an endpoint.
func origin(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// Endpoint returns the hub's address.
func (c *Client) Endpoint() string { return c.base.String() }

// Env returns the hub, its token and its reach as environment variables of a workload.
func (c *Client) Env() map[string][]byte {
	env := map[string][]byte{names.EnvHFEndpoint: []byte(c.Endpoint()), names.EnvHubReach: []byte(c.cfg.Reach.String())}
	if c.cfg.Token != "" {
		env[names.EnvHFToken] = []byte(c.cfg.Token)
	}
	return env
}

// newTransport speaks HTTP/1.1 only: each range in flight uses a connection of its
// own, so that one that stalls can be dropped alone.
func newTransport(d dialer) *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           d.DialContext,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       60 * time.Second,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: headerTimeout,
		DisableCompression:    true, // ranges count bytes of the file
		ReadBufferSize:        128 << 10,
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
