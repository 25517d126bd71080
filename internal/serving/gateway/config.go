package gateway

import (
	"log/slog"
	"net"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/internal/telemetry"
)

// Config configures a gateway.
type Config struct {
	Bus          bus.Config
	Listen       string // "host:port" of the API
	HealthListen string // "host:port" of health and metrics; "" for none

	// Namespace is that of the gateway, and of models that are named without one;
	// default "default". The gateway serves the models and accepts the tokens of
	// this namespace and of Namespaces.
	Namespace      string
	Namespaces     []string
	Hosts          []string // names in the Host header that are served; empty is all; see httpserver.AllowsHost
	BasePath       string   // below which the API is as well, such as "/llm", for proxies that do not remove it
	AllowAnonymous bool     // also serve callers without a token, or with one that is not accepted

	ResponseTimeout time.Duration   // from the moment the engine starts; default 10 min
	QueueTimeout    time.Duration   // until the engine starts, cold start included; default 1 h
	RequestTimeout  time.Duration   // from the arrival of a request to its end; default none; clients may ask for less
	MaxBodyBytes    int64           // of a request; default 20 MiB
	Limits          registry.Limits // of each token; callers without a token share them
	TokensMayExceed bool            // a token's own limits may be greater than Limits
	MaxPerSession   int             // requests of one session that may wait; 0 is no limit
	MaxPerTenant    int             // requests of one token that may wait; 0 is no limit
	// MaxBytesPerTenant bounds the bodies of the requests of one token that wait, in all
	// sessions; 0 is no limit. A single request may always wait.
	MaxBytesPerTenant int64
	// MaxBodyMemory bounds the bytes of bodies that are not in the queue yet; 0 is no
	// limit. One token gets half of it.
	MaxBodyMemory    int64
	StrictParameters bool             // refuse requests with parameters that would be ignored
	Reasoning        openai.Reasoning // how thoughts are shown unless the request says; default separate
	Origins          []string         // of pages that may use the API from a browser; "*" is all
	Isolation        Isolation        // default IsolateModel
	MaxSessions      int              // isolated pools in a namespace at the same time; default 8
	// ResponsesTTL is how long responses are stored for later requests of the same
	// token, and ResponsesMaxBytes how many bytes all of them have at most: beyond, no
	// more are stored until some expire. 0 stores none.
	ResponsesTTL      time.Duration
	ResponsesMaxBytes int64         // default 256 MiB
	HashKey           []byte        // of the HMAC that names conversations; empty: a plain hash
	Tracer            trace.Tracer  // default telemetry.NoTracer()
	DemandTTL         time.Duration // how long a session stays in demand after its last request; default 10 min
	Grace             time.Duration // for running answers at shutdown; default 25 s
	NoDrain           bool          // stop when no request runs; else accept more for up to a fifth of Grace, as long as they keep coming
	Logger            *slog.Logger  // default slog.Default()

	// listening, if set, is called with the addresses once both ports are open.
	listening func(api, health net.Addr)
}

// An Isolation says which requests share a pool of runners.
type Isolation string

// The kinds of isolation.
const (
	IsolateModel        Isolation = "model"        // all requests for a model
	IsolateToken        Isolation = "token"        // those with one API token
	IsolateConversation Isolation = "conversation" // those of one conversation
)

// ParseIsolation reads the value of a flag. "" is IsolateModel.
func ParseIsolation(word string) (Isolation, error) {
	switch i := Isolation(word); i {
	case "":
		return IsolateModel, nil
	case IsolateModel, IsolateToken, IsolateConversation:
		return i, nil
	}
	return "", fault.Errorf(fault.Invalid, "cannot isolate by %q: it is none of model, token, conversation", word)
}

// timing holds the durations of a gateway that are not configurable.
type timing struct {
	// quiet is how long the first byte of a stream is held back: until then an
	// error can still be sent as an HTTP status.
	quiet time.Duration
	// keepAlive is the time between comments on a stream without text; many
	// proxies cut connections that are silent for 30 or 60 s.
	keepAlive time.Duration
	body      time.Duration // for a client to send its body
	write     time.Duration // for a client to take one event
	publish   time.Duration // to store a request; many may come at once, and a NATS server may restart meanwhile
	cancel    time.Duration // until a dispatcher takes a cancellation
	backstop  time.Duration // beyond all limits of a request
	overdue   time.Duration // beyond the limit that the request or RequestTimeout sets, until dispatcher or runner says so
}

var defaultTiming = timing{
	quiet:     time.Second,
	keepAlive: 10 * time.Second,
	body:      time.Minute,
	write:     30 * time.Second,
	publish:   30 * time.Second,
	cancel:    time.Minute,
	backstop:  30 * time.Second,
	overdue:   2 * time.Second,
}

// defaultMaxSessions is how many isolated pools there may be.
const defaultMaxSessions = 8

func (c Config) withDefaults() (Config, error) {
	orDefault(&c.Namespace, "default")
	orDefault(&c.ResponseTimeout, 10*time.Minute)
	orDefault(&c.QueueTimeout, time.Hour)
	orDefault(&c.MaxBodyBytes, 20<<20)
	orDefault(&c.DemandTTL, 10*time.Minute)
	orDefault(&c.Grace, 25*time.Second)
	orDefault(&c.Logger, slog.Default())
	orDefault(&c.Reasoning, openai.ReasoningSeparate)
	orDefault(&c.Isolation, IsolateModel)
	orDefault(&c.MaxSessions, defaultMaxSessions)
	orDefault(&c.ResponsesMaxBytes, names.ResponsesMaxBytes)
	if c.Tracer == nil {
		c.Tracer = telemetry.NoTracer()
	}
	if err := checkOrigins(c.Origins); err != nil {
		return c, err
	}
	for name, n := range map[string]int64{
		"limit of requests per minute": int64(c.Limits.RequestsPerMinute), "limit of tokens per minute": c.Limits.TokensPerMinute,
		"limit of concurrent requests": int64(c.Limits.ConcurrentRequests), "limit per session": int64(c.MaxPerSession),
		"limit per tenant": int64(c.MaxPerTenant), "number of sessions": int64(c.MaxSessions),
		"limit of bytes of responses": c.ResponsesMaxBytes,
		"limit of bytes per tenant":   c.MaxBytesPerTenant, "limit of memory for bodies": c.MaxBodyMemory,
	} {
		if n < 0 {
			return c, fault.Errorf(fault.Invalid, "cannot use a %s of %d: it must not be negative", name, n)
		}
	}
	for name, d := range map[string]time.Duration{
		"response timeout": c.ResponseTimeout, "queue timeout": c.QueueTimeout, "request timeout": c.RequestTimeout, "grace": c.Grace,
		"TTL of responses": c.ResponsesTTL,
	} {
		if d < 0 {
			return c, fault.Errorf(fault.Invalid, "cannot use a %s of %v: it must not be negative", name, d)
		}
	}
	if c.ResponsesTTL > 0 && c.ResponsesTTL < time.Second {
		return c, fault.Errorf(fault.Invalid, "cannot use a TTL of responses of %v: it must be at least a second, or 0 to store none", c.ResponsesTTL)
	}
	if c.DemandTTL < time.Second {
		return c, fault.Errorf(fault.Invalid, "cannot use a demand TTL of %v: it must be at least a second", c.DemandTTL)
	}
	if c.MaxBodyBytes < 0 {
		return c, fault.Errorf(fault.Invalid, "cannot use a body limit of %d bytes", c.MaxBodyBytes)
	}
	return c, nil
}

func orDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// drain returns how long the gateway accepts further requests once it stops.
func (c Config) drain() time.Duration {
	if c.NoDrain {
		return 0
	}
	return c.Grace / 5
}
