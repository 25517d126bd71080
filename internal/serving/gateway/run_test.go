package gateway

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/test/waittest"
)

// runGateway runs a gateway with all its listeners; stop stops it and returns the
// result of Run.
func runGateway(t *testing.T, cfg Config) (api, health string, stop func() error) {
	t.Helper()
	cfg.Listen, cfg.HealthListen, cfg.AllowAnonymous = "127.0.0.1:0", "127.0.0.1:0", true
	cfg.Logger = slog.New(slog.DiscardHandler)
	addrs := make(chan [2]string, 1)
	cfg.listening = func(api, health net.Addr) { addrs <- [2]string{api.String(), health.String()} }
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, cfg) }()
	stop = func() error {
		cancel()
		err := waittest.Receive(t, "the gateway stops", done)
		done <- err
		return err
	}
	t.Cleanup(func() { _ = stop() })
	a := waittest.Receive(t, "the gateway listens", addrs)
	return "http://" + a[0], "http://" + a[1], stop
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(waittest.Context(t), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	b, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(b)
}

func TestRun(t *testing.T) {
	server := natstest.Start(t)
	url := server.URL()
	server.Stop()
	api, health, stop := runGateway(t, Config{
		Bus: bus.Config{URL: url, User: natstest.User, Password: natstest.Password}, Grace: 50 * time.Millisecond,
	})

	// Without NATS the process is live, and /readyz names what it waits for.
	if status, body := get(t, health+"/healthz"); status != 200 {
		t.Errorf("healthz: %d %s", status, body)
	}
	if status, body := get(t, health+"/readyz"); status != 503 || !strings.Contains(body, "nats: ") {
		t.Errorf("readyz: %d %s", status, body)
	}

	server.Restart()
	waittest.Until(t, "the gateway is ready", func() bool { status, _ := get(t, health+"/readyz"); return status == 200 })
	if status, body := get(t, api+"/v1/models"); status != 200 || !strings.Contains(body, `"data":[]`) {
		t.Errorf("models: %d %s", status, body)
	}
	w := &world{t: t, nats: server, natsURL: url, url: api}
	w.bus = w.connect()
	w.putModel("default", "tiny")
	waittest.Until(t, "the model is listed", func() bool { _, body := get(t, api+"/v1/models"); return strings.Contains(body, "default/tiny") })
	runner := startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		s.started()
		s.text("first")
		<-ctx.Done()
	})

	// Metrics are on their own port only.
	for path, want := range map[string]int{"/metrics": 404, "/healthz": 200, "/readyz": 200} {
		if status, _ := get(t, api+path); status != want {
			t.Errorf("%s on the API's port: %d", path, status)
		}
	}
	if status, body := get(t, health+"/metrics"); status != 200 ||
		!strings.Contains(body, `koldun_gateway_requests_total{endpoint="models",status="200"}`) ||
		!strings.Contains(body, `koldun_gateway_requests_total{endpoint="other",status="404"} 1`) {
		t.Errorf("metrics: %d %s", status, body)
	}

	// A stream that outlasts the grace ends with an error, and its request is dropped.
	response := w.open(waittest.Context(t), chatBody(streaming))
	d := openai.NewDecoder(response.Body, 1<<16)
	for range 2 { // role and text
		if _, err := d.Next(); err != nil {
			t.Fatal(err)
		}
	}
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	var last string
	for {
		e, err := d.Next()
		if err != nil {
			break
		}
		last = string(e.Data)
	}
	if e := decodeError(t, last); e.Code != "shutting_down" {
		t.Errorf("last event = %s", last)
	}
	if err := waittest.Receive(t, "the gateway stops", stopped); err != nil {
		t.Error(err)
	}
	waittest.Until(t, "the request is cancelled", func() bool {
		reason, _ := runner.cancellation(runner.seen()[0].ID)
		return reason == "shutdown"
	})
	if status, _ := get(t, health+"/healthz"); status != 0 {
		t.Error("health is still served")
	}
}

func TestRunStopsWhileNATSIsAway(t *testing.T) {
	_, health, stop := runGateway(t, Config{Bus: bus.Config{URL: "nats://127.0.0.1:1"}})
	if status, _ := get(t, health+"/healthz"); status != 200 {
		t.Errorf("status %d", status)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestRunRefusesBadConfigurations(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	good := bus.Config{URL: "nats://127.0.0.1:1"}
	cases := map[string]struct {
		cfg  Config
		kind fault.Kind
	}{
		"PortTaken":       {Config{Bus: good, Listen: taken.Addr().String()}, fault.Conflict},
		"HealthPortTaken": {Config{Bus: good, Listen: "127.0.0.1:0", HealthListen: taken.Addr().String()}, fault.Conflict},
		"Address":         {Config{Bus: good, Listen: "nonsense"}, fault.Invalid},
		"NoNATS":          {Config{Listen: "127.0.0.1:0"}, fault.Invalid},
		"Timeout":         {Config{Bus: good, Listen: "127.0.0.1:0", ResponseTimeout: -1}, fault.Invalid},
		"ResponsesTTL":    {Config{Bus: good, Listen: "127.0.0.1:0", ResponsesTTL: time.Millisecond}, fault.Invalid},
		"DemandTTL":       {Config{Bus: good, Listen: "127.0.0.1:0", DemandTTL: time.Millisecond}, fault.Invalid},
		"Body":            {Config{Bus: good, Listen: "127.0.0.1:0", MaxBodyBytes: -1}, fault.Invalid},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.cfg.Logger = slog.New(slog.DiscardHandler)
			if err := Run(t.Context(), c.cfg); !fault.Is(err, c.kind) {
				t.Errorf("err = %v, want %s", err, c.kind)
			}
		})
	}
}

func TestDrain(t *testing.T) {
	for want, c := range map[time.Duration]Config{
		5 * time.Second: {Grace: 25 * time.Second},
		0:               {Grace: 25 * time.Second, NoDrain: true},
	} {
		if got := c.drain(); got != want {
			t.Errorf("the drain of %+v is %v, want %v", c, got, want)
		}
	}
}
