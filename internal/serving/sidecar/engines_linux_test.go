package sidecar_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/network/httpserver/proxytest"
	"github.com/gorizond/koldun/internal/serving/sidecar"
)

const (
	tinyModel = "../../../examples/models/koldun-tiny"
	question  = "What is Koldun?"
	reply     = "Koldun turns a short YAML claim into a running, OpenAI-compatible language model service on distributed-llama."
)

// A target is an engine of the sidecar: the fake, or the real one with or without
// workers. All pass the same tests.
type target struct {
	url        string
	supervisor sidecar.Supervisor // nil: no restarts
	restarts   func() string      // unexpected restarts; "" if none
	kill       func()             // kills the root's process
	workers    []string           // ports of the workers
	links      []*proxytest.Proxy
}

// targets runs a test on each kind of engine.
func targets(t *testing.T, run func(t *testing.T, e target)) {
	t.Helper()
	t.Run("Double", func(t *testing.T) {
		e := enginetest.Start(t, func(enginetest.Request) enginetest.Reply {
			return enginetest.Reply{Pieces: strings.SplitAfter(reply, " "), Every: time.Millisecond}
		})
		run(t, target{url: e.URL, restarts: e.Aborted, kill: func() {
			e.Stop()
			if err := e.Run(); err != nil {
				t.Error(err)
			}
		}})
	})
	for name, workers := range map[string]int{"Root": 0, "RootAndWorkers": 3} {
		t.Run(name, func(t *testing.T) {
			run(t, ring(t, workers))
		})
	}
}
