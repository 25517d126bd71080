package servers_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/engineapi"
	openaiengine "github.com/gorizond/koldun/internal/engine/openai"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	koldun "github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/dispatch"
	"github.com/gorizond/koldun/internal/serving/gateway"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/internal/serving/sidecar"
	"github.com/gorizond/koldun/test/waittest"
)

const (
	namespace = "default"
	modelName = "tiny"
	modelID   = namespace + "/" + modelName
)

// A stack serves a model through NATS, dispatcher, sidecar and gateway.
type stack struct {
	tb     testing.TB
	nats   *natstest.Server
	bus    *bus.Bus
	url    string // of the gateway
	health string // of the sidecar
}

func newStack(tb testing.TB, o offer) *stack {
	tb.Helper()
	s := &stack{tb: tb, nats: natstest.Start(tb)}
	s.bus = s.connect("test")
	if err := s.bus.Ensure(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	model := registry.Model{Version: 1, Namespace: namespace, Name: modelName, Created: time.Now()}
	if _, err := s.bus.Put(tb.Context(), names.ModelsBucket, names.ModelKey(namespace, modelName), model); err != nil {
		tb.Fatal(err)
	}
	dispatcher, runner := s.connect("dispatcher"), s.connect("sidecar")
	s.run(func(ctx context.Context) error {
		return dispatch.Run(ctx, dispatch.Config{Bus: dispatcher, Identity: "d", Logger: slog.New(slog.DiscardHandler)})
	})
	s.health = porttest.Address(tb)
	cfg := sidecar.Config{
		Bus: runner, Engine: o.client, Session: names.Session(namespace, modelName, ""), Runner: "r0", Model: modelID, Slots: o.slots,
		Listen: s.health, Grace: time.Second, Logger: slog.New(slog.DiscardHandler),
	}
	if o.engine.API.Load.Known() {
		cfg.Loaded = o.client
	}
	s.run(func(ctx context.Context) error { return sidecar.Run(ctx, cfg) })
	listen := porttest.Address(tb)
	s.url = "http://" + listen
	s.run(func(ctx context.Context) error {
		return gateway.Run(ctx, gateway.Config{
			Bus:    bus.Config{URL: s.nats.URL(), User: natstest.User, Password: natstest.Password, Name: "gateway"},
			Listen: listen, AllowAnonymous: true, Logger: slog.New(slog.DiscardHandler),
		})
	})
	return s
}

func (s *stack) connect(name string) *bus.Bus {
	s.tb.Helper()
	b, err := bus.Connect(s.tb.Context(), bus.Config{URL: s.nats.URL(), User: natstest.User, Password: natstest.Password, Name: name})
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(b.Close)
	return b
}

func (s *stack) run(server func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server(ctx) }()
	s.tb.Cleanup(func() {
		cancel()
		if err := waittest.Receive(s.tb, "a server to end", done); err != nil {
			s.tb.Error(err)
		}
	})
}

// readyz returns the health of the sidecar.
func (s *stack) readyz() (status int, text string) {
	resp, err := waittest.Client().Get("http://" + s.health + "/readyz")
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

func (s *stack) untilReady() {
	s.tb.Helper()
	waittest.Until(s.tb, "the sidecar to be ready", func() bool { status, _ := s.readyz(); return status == http.StatusOK })
	waittest.Until(s.tb, "the gateway to answer", func() bool {
		resp, err := waittest.Client().Get(s.url + "/v1/models/" + modelID)
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

func (s *stack) client() openai.Client {
	return openai.NewClient(option.WithBaseURL(s.url+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
}

// An offer is a server with what its profile says of it.
type offer struct {
	engine engine.Engine
	client *engineapi.Server
	slots  int
}

// offered returns the offer of a server that knows its model as served.
func offered(tb testing.TB, profile, url, served string, slots int) offer {
	tb.Helper()
	e, err := openaiengine.Engine().Configured(engine.Server{Profile: profile, URL: url})
	if err != nil {
		tb.Fatal(err)
	}
	cfg := engineapi.ServerConfig{URL: url, Model: served, Parameters: e.Parameters, Features: koldun.NewFeatures(e.API.Features...), Load: e.API.Load}
	for _, op := range e.API.Operations {
		cfg.Operations = append(cfg.Operations, koldun.Operation(op))
	}
	client, err := engineapi.NewServer(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(client.Close)
	return offer{e, client, slots}
}
