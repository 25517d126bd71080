package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/engine/llama/api"
	"github.com/gorizond/koldun/internal/model/topology"
)

// EngineCmd holds the commands of the embedded engine.
type EngineCmd struct {
	API EngineAPICmd `cmd:"" name:"api" help:"Serve a model with the HTTP API of dllama-api."`
}

// EngineAPICmd serves a model. Its flags are those of dllama-api.
type EngineAPICmd struct {
	Model           string        `required:"" type:"path" help:"Model file (.m)."`
	Tokenizer       string        `required:"" type:"path" help:"Tokenizer file (.t)."`
	Host            string        `default:"127.0.0.1" help:"Address to listen on."`
	AllowedHost     []string      `name:"allowed-host" env:"KOLDUN_ALLOWED_HOSTS" placeholder:"NAME" help:"Host name that requests may name beside IP addresses. May be repeated; none is all."`
	Port            int           `default:"9990" help:"Port to listen on; 0 is a free one."`
	HealthListen    string        `default:"" help:"Address of /healthz, /readyz and /metrics; empty is none."`
	NThreads        int           `name:"nthreads" default:"1" help:"Compute threads."`
	Slots           int           `default:"4" help:"Answers computed at the same time, up to 32. They share memory for one context, or for 1024 tokens each if that is more."`
	MaxSeqLen       int           `default:"0" help:"Longest context in tokens; 0 is the model's."`
	BufferFloatType string        `default:"" enum:",q80,f32" help:"Type of the values between the layers: q80 for q40 weights, f32 for f32. Default: the one that fits."`
	Temperature     float32       `default:"0.8" help:"Temperature of requests that name none; 0 is greedy."`
	TopP            float32       `name:"topp" default:"0.9" help:"Top-p of requests that name none; 1 keeps all tokens."`
	Seed            uint64        `default:"0" help:"Seed of the sampler; 0 uses the time."`
	Grace           time.Duration `default:"30s" help:"Time for running answers after a signal to stop: more than that of the sidecar, which ends them."`
}

// Run serves until ctx ends.
func (c *EngineAPICmd) Run(ctx context.Context, log *slog.Logger) error {
	seed := c.Seed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	return api.Run(ctx, api.Config{
		Engine: llama.Config{
			Model:           c.Model,
			Tokenizer:       c.Tokenizer,
			Threads:         c.NThreads,
			Slots:           c.Slots,
			MaxSeqLen:       c.MaxSeqLen,
			BufferFloatType: topology.FloatType(c.BufferFloatType),
		},
		Host:         c.Host,
		Port:         c.Port,
		Hosts:        c.AllowedHost,
		HealthListen: listenAddress(c.HealthListen),
		Sampling:     llama.Sampling{Temperature: c.Temperature, TopP: c.TopP, Seed: seed},
		Grace:        c.Grace,
		Logger:       log,
	})
}
