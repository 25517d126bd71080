package main

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/gateway"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/internal/telemetry"
)

// envHashSecret holds the key of the HMAC that names conversations: plain, or
// base64:KEY. It is not a flag, because other processes can read arguments.
const envHashSecret = "KOLDUN_HASH_SECRET"

// GatewayCmd serves the OpenAI-compatible API. It reads the connection to NATS
// from the environment: NATS_URL, NATS_USER and NATS_PASSWORD, or NATS_CREDS.
type GatewayCmd struct {
	Listen          string        `default:":8082" help:"Address of the API."`
	HealthListen    string        `default:":8083" help:"Address of /healthz, /readyz and /metrics."`
	Namespace       string        `default:"default" help:"Namespace of the gateway: it serves the models and accepts the tokens of this namespace, and bare model names refer to it."`
	Namespaces      []string      `placeholder:"NAME" help:"Further namespaces whose models it serves and whose tokens it accepts."`
	AllowedHost     []string      `name:"allowed-host" env:"KOLDUN_ALLOWED_HOSTS" placeholder:"NAME" help:"Host name that requests may name beside IP addresses, so that no page of another site can use a server on loopback by DNS rebinding. May be repeated; none is all."`
	BasePath        string        `placeholder:"/PATH" help:"Path below which the API is served as well, for proxies that do not remove it."`
	AllowAnonymous  bool          `help:"Answer requests without an API token."`
	ResponseTimeout time.Duration `default:"10m" help:"Maximum time for one answer from the start of the engine."`
	QueueTimeout    time.Duration `default:"1h" help:"Maximum time that a request waits for a runner."`
	RequestTimeout  time.Duration `help:"Maximum time from the arrival of a request to its end; 0 is no limit. Clients may ask for less."`
	MaxBodyBytes    int64         `default:"20971520" help:"Largest body of a request."`
	NoDrain         bool          `env:"KOLDUN_NO_DRAIN" help:"Stop when no request runs. By default the gateway accepts further ones after a signal to stop, as long as they keep coming, for up to 5 s."`

	StrictParameters bool     `help:"Refuse requests with parameters that cannot be honoured, instead of naming them in the header x-koldun-ignored."`
	Reasoning        string   `default:"separate" enum:"separate,inline,hidden" help:"How reasoning is returned unless a request overrides it: ${enum}."`
	CORSOrigin       []string `name:"cors-origin" placeholder:"https://HOST" help:"Origin whose pages may use the API from a browser, * for all. May be repeated."`

	RequestsPerMinute  int   `help:"Requests per minute of each API token, unless its own limit is lower; 0 is no limit."`
	TokensPerMinute    int64 `help:"Tokens of prompts and answers per minute of each API token, unless its own limit is lower; 0 is no limit."`
	ConcurrentRequests int   `help:"Concurrent requests of each API token, unless its own limit is lower; 0 is no limit."`
	TokensMayExceed    bool  `help:"Let the limits in the record of an API token exceed those above."`
	MaxPerSession      int   `help:"Maximum waiting requests of one pool; 0 is no limit."`
	MaxPerTenant       int   `default:"2000" help:"Maximum waiting requests of one API token; 0 is no limit."`
	MaxBytesPerTenant  int64 `default:"67108864" help:"Maximum bytes of the bodies of the waiting requests of one API token, a quarter of a queue's usual size; 0 is no limit."`
	MaxBodyMemory      int64 `default:"67108864" help:"Maximum bytes of bodies that are not in the queue yet, of which one API token gets half; 0 is no limit."`

	Isolation         string        `default:"model" enum:"model,token,conversation" help:"Requests that share a pool: those of one ${enum}."`
	MaxSessions       int           `default:"8" help:"Maximum isolated pools; further requests share the pool of their model."`
	ResponsesTTL      time.Duration `name:"responses-ttl" help:"How long responses of /v1/responses are stored for later requests of the same API token (previous_response_id); 0 stores none."`
	ResponsesMaxBytes int64         `default:"268435456" help:"Maximum bytes of all stored responses: beyond, no more are stored until some expire."`

	DemandTTL time.Duration `name:"demand-ttl" default:"10m" help:"How long a pool is kept after its last request."`
}

// Run serves until ctx ends. It serves health from the start, before it has
// reached NATS.
func (c *GatewayCmd) Run(ctx context.Context, log *slog.Logger) error {
	halfTheCores()
	cfg, err := c.config(log)
	if err != nil {
		return err
	}
	tracer, stop, err := telemetry.NewTracer(ctx, "koldun-gateway", version)
	if err != nil {
		return err
	}
	defer stop()
	cfg.Tracer = tracer
	return advise(gateway.Run(ctx, cfg))
}

func (c *GatewayCmd) config(log *slog.Logger) (gateway.Config, error) {
	if err := cmp.Or(positive("response-timeout", c.ResponseTimeout), positive("queue-timeout", c.QueueTimeout), positive("demand-ttl", c.DemandTTL),
		positive("max-body-bytes", c.MaxBodyBytes), positive("max-sessions", c.MaxSessions)); err != nil {
		return gateway.Config{}, err
	}
	bus, err := busConfig("gateway", log)
	if err != nil {
		return gateway.Config{}, err
	}
	bus.Patience = rotation
	isolation, err := gateway.ParseIsolation(c.Isolation)
	if err != nil {
		return gateway.Config{}, err
	}
	reasoning, err := gateway.ParseReasoning(c.Reasoning)
	if err != nil {
		return gateway.Config{}, err
	}
	key, err := openai.ParseHashKey(os.Getenv(envHashSecret))
	if err != nil {
		return gateway.Config{}, err
	}
	return gateway.Config{
		Bus:             bus,
		Listen:          listenAddress(c.Listen),
		HealthListen:    listenAddress(c.HealthListen),
		Namespace:       c.Namespace,
		Namespaces:      c.Namespaces,
		Hosts:           c.AllowedHost,
		BasePath:        c.BasePath,
		AllowAnonymous:  c.AllowAnonymous,
		ResponseTimeout: c.ResponseTimeout,
		QueueTimeout:    c.QueueTimeout,
		RequestTimeout:  c.RequestTimeout,
		MaxBodyBytes:    c.MaxBodyBytes,
		Limits: registry.Limits{
			RequestsPerMinute: c.RequestsPerMinute, TokensPerMinute: c.TokensPerMinute, ConcurrentRequests: c.ConcurrentRequests,
		},
		TokensMayExceed:   c.TokensMayExceed,
		MaxPerSession:     c.MaxPerSession,
		MaxPerTenant:      c.MaxPerTenant,
		MaxBytesPerTenant: c.MaxBytesPerTenant,
		MaxBodyMemory:     c.MaxBodyMemory,
		StrictParameters:  c.StrictParameters,
		Reasoning:         reasoning,
		Origins:           c.CORSOrigin,
		Isolation:         isolation,
		MaxSessions:       c.MaxSessions,
		ResponsesTTL:      c.ResponsesTTL,
		ResponsesMaxBytes: c.ResponsesMaxBytes,
		HashKey:           key,
		DemandTTL:         c.DemandTTL,
		NoDrain:           c.NoDrain,
		Logger:            log,
	}, nil
}
