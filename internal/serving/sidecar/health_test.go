package sidecar_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/internal/serving/dispatch"
	"github.com/gorizond/koldun/internal/serving/sidecar"
	"github.com/gorizond/koldun/test/waittest"
)

// get returns the status and body, or 0 if no server listens.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := waittest.Client().Do(req)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

func TestHealthAndMetrics(t *testing.T) {
	w := newWorld(t)
	d, s := porttest.Address(t), porttest.Address(t)
	w.start("d1", func(ctx context.Context, b *bus.Bus) error {
		return dispatch.Run(ctx, dispatch.Config{
			Bus: b, Identity: "d1", Listen: d, Logger: w.logger("d1"),
			LeaseTTL: time.Minute, // a leader that loses its lease may not count an outcome
		})
	})
	e := enginetest.Start(t, nil)
	e.Stop()
	client, err := engineapi.New(e.URL)
	if err != nil {
		t.Fatal(err)
	}
	w.start("r1", func(ctx context.Context, b *bus.Bus) error {
		return sidecar.Run(ctx, sidecar.Config{
			Bus: b, Engine: client, Session: session, Runner: "r1", Model: "ns/model", Listen: s, Logger: w.logger("r1"),
		})
	})
	status := func(addr, path string, want int) {
		t.Helper()
		w.eventually(addr+path, func() bool { got, _ := get(t, "http://"+addr+path); return got == want })
	}
	status(d, "/readyz", 200)
	status(s, "/healthz", 200)
	status(s, "/readyz", 503) // the engine is loading
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	status(s, "/readyz", 200)
	for i := range 20 { // some end before the leader receives their acceptance
		w.send(chat(fmt.Sprintf("req_%d", i), "one two")).want("one two")
	}
	for _, line := range []struct{ addr, text string }{
		{d, `koldun_requests_total{state="completed"} 20`},
		{d, `koldun_queue_wait_seconds_count 20`},
		{s, `koldun_runner_attempts_total{result="completed"} 20`},
		{s, `koldun_runner_tokens_total{type="output"} 40`},
	} {
		w.eventually(line.text, func() bool {
			_, text := get(t, "http://"+line.addr+"/metrics")
			return strings.Contains(text, line.text+"\n")
		})
	}
	w.nats.Stop()
	status(d, "/readyz", 503)
	status(s, "/readyz", 503)
}

func TestRunRefuses(t *testing.T) {
	w := newWorld(t)
	client, err := engineapi.New("http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	good := sidecar.Config{Bus: w.bus, Engine: client, Session: session, Runner: "r", Model: "ns/m", Logger: w.logger("r")}
	cases := map[string]struct {
		change func(c *sidecar.Config)
		want   fault.Kind
	}{
		"NoBus":     {func(c *sidecar.Config) { c.Bus = nil }, fault.Internal},
		"NoEngine":  {func(c *sidecar.Config) { c.Engine = nil }, fault.Internal},
		"NoSession": {func(c *sidecar.Config) { c.Session = "" }, fault.Invalid},
		"DotInName": {func(c *sidecar.Config) { c.Runner = "a.b" }, fault.Invalid},
		"NoRunner":  {func(c *sidecar.Config) { c.Runner = "" }, fault.Invalid},
		"Between":   {func(c *sidecar.Config) { c.Timeouts.Between = -time.Second }, fault.Invalid},
		"Grace":     {func(c *sidecar.Config) { c.Grace = -time.Second }, fault.Invalid},
		"ShortTTL":  {func(c *sidecar.Config) { c.TTL = time.Millisecond }, fault.Invalid},
		"PortInUse": {func(c *sidecar.Config) { c.Listen = taken.Addr().String() }, fault.Conflict},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := good
			c.change(&cfg)
			if err := sidecar.Run(t.Context(), cfg); !fault.Is(err, c.want) {
				t.Errorf("Run: %v, want kind %q", err, c.want)
			}
		})
	}
	if err := dispatch.Run(t.Context(), dispatch.Config{Bus: w.bus}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a dispatcher without identity: %v", err)
	}
	if err := dispatch.Run(t.Context(), dispatch.Config{Bus: w.bus, Identity: "d", MaxAttempts: -1}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a dispatcher that never tries: %v", err)
	}
	if err := dispatch.Run(t.Context(), dispatch.Config{Bus: w.bus, Identity: "d", Listen: taken.Addr().String()}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a dispatcher on a port in use: %v", err)
	}
}
