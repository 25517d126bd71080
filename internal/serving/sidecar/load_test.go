package sidecar_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/sidecar"
)

// While others keep a server busy, requests wait in the queue and not in the
// server, except for one; when the others have gone, the runner takes as many as
// it has slots.
func TestOthersUseTheServer(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	gate := make(chan struct{})
	e := enginetest.StartServer(t, func(r enginetest.ServerRequest) enginetest.ServerReply {
		reply := enginetest.EchoChunks(r)
		if strings.HasPrefix(r.Last(), "slow") {
			reply.Gate = gate
		}
		return reply
	})
	others := func(running, waiting int) {
		e.SetMetrics(fmt.Sprintf("x:running{model_name=\"served\"} %d\nx:waiting{model_name=\"served\"} %d\n", running, waiting))
	}
	others(4, 6)
	engine, err := engineapi.NewServer(engineapi.ServerConfig{
		URL: e.URL, Model: "served", Parameters: []string{"seed"}, Features: "tools", Load: engine.LoadMetrics{Running: "x:running", Waiting: "x:waiting"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	addr := porttest.Address(t)
	w.configuredServer("r1", e, func(cfg *sidecar.Config) {
		cfg.Engine, cfg.Loaded, cfg.Listen = engine, engine, addr
	})
	w.runner("r1", func(r queue.Runner) bool { return r.Taken == 1 })
	if _, text := get(t, "http://"+addr+"/metrics"); !strings.Contains(text, "koldun_runner_slots_taken 1") || !strings.Contains(text, `koldun_runner_server_requests{state="waiting"} 6`) {
		t.Errorf("the metrics do not say that the server is busy:\n%s", text)
	}
	var all []*client
	for i := range 2 {
		all = append(all, w.send(chat(fmt.Sprintf("req_%d", i), fmt.Sprintf("slow answer %d", i))))
	}
	all[0].until(queue.FrameStarted)
	all[1].until(queue.FrameQueued)
	w.runner("r1", func(r queue.Runner) bool { return len(r.Held) == 1 })
	others(0, 0)
	all[1].until(queue.FrameStarted)
	w.runner("r1", func(r queue.Runner) bool { return len(r.Held) == 2 && r.Taken == 0 })
	close(gate)
	for i, c := range all {
		c.want(fmt.Sprintf("slow answer %d", i))
	}
}

// A runner offers all slots of a server that does not say its load, or no more.
func TestServerSaysNoLoad(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e := enginetest.StartServer(t, nil)
	e.SetMetrics("x:running 4\nx:waiting 6\n")
	engine, err := engineapi.NewServer(engineapi.ServerConfig{
		URL: e.URL, Model: "served", Features: "tools", Load: engine.LoadMetrics{Running: "x:running", Waiting: "x:waiting"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	w.configuredServer("r1", e, func(cfg *sidecar.Config) { cfg.Engine, cfg.Loaded = engine, engine })
	w.runner("r1", func(r queue.Runner) bool { return r.Taken == 1 })
	e.SetMetrics("")
	w.runner("r1", func(r queue.Runner) bool { return r.Taken == 0 })
	w.send(chat("req_1", "hello")).want("hello")
}
