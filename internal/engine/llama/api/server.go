package api

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/network/httpserver"
)

// A server is one run of Run.
type server struct {
	Config
	metrics  *Metrics
	health   net.Addr
	notReady atomic.Pointer[error] // the reason; points to nil once it is ready
}

func (s *server) run(ctx context.Context) (err error) {
	engine, err := llama.Open(s.Engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	if err := engine.ChatError(); err != nil {
		return err
	}
	s.logModel(engine.Info())
	l, err := httpserver.Listen(ctx, s.address())
	if err != nil {
		return err
	}
	h := New(engine, Options{
		Model: s.modelID(), Created: modified(s.Engine.Model), Sampling: s.Sampling, Calls: engine.Info().Calls, Slots: engine.Info().Slots, Waiting: s.Waiting,
		Logger: s.Logger, Metrics: s.metrics,
	})
	ready, draining := error(nil), httpserver.ErrShutdown
	s.notReady.Store(&ready)
	defer context.AfterFunc(ctx, func() { s.notReady.Store(&draining) })()
	if s.Ready != nil {
		s.Ready(l.Addr(), s.health)
	}
	return httpserver.Serve(ctx, l, h, httpserver.Options{Name: "api", Hosts: httpserver.HostsOrAny(s.Hosts), Grace: s.Grace, Logger: s.Logger})
}

func (s *server) logModel(i llama.Info) {
	s.Logger.Info("model is open",
		"model", s.modelID(), "arch", string(i.Shape.Arch), "weights", string(i.Shape.Weights), "layers", i.Shape.Layers, "dim", i.Shape.Dim,
		"context", i.SeqLen, "vocabulary", i.Vocabulary, "template", string(i.Template), "threads", i.Threads, "slots", i.Slots,
		"weightBytes", i.WeightBytes, "cacheBytes", i.CacheBytes)
}
