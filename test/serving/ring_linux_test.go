package serving_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/convert"
	dirstore "github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

const (
	question = "What is Koldun?"
	reply    = "Koldun turns a short YAML claim into a running, OpenAI-compatible language model service on distributed-llama."
)

// TestRing kills every process of a real ring of four, and what serves it, while
// clients ask, and checks the history against the guarantees.
func TestRing(t *testing.T) {
	dir := os.Getenv("DLLAMA_BIN")
	if dir == "" {
		t.Skip("run it with: make engine && DLLAMA_BIN=$PWD/bin/distributed-llama go test -run TestRing ./test/serving")
	}
	t.Parallel()
	s := newStack(t, plan{gateways: 1, dispatchers: 2})
	nodes := s.ring(t, dir)
	h := &history.History{}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	w := newWorkload(s, nil)
	w.ask(ctx, 3)
	for _, p := range append(nodes, s.sidecars[0], s.dispatchers[0], s.dispatchers[1]) {
		waittest.Until(t, "an answer to begin", func() bool { return metric(t, s.sidecarHealth, "koldun_runner_attempts_running") == "1" })
		before, begun := w.count(), time.Now()
		h.Disturb(false, p.kill)
		waittest.Until(t, "answers after "+p.name+" was killed", func() bool { return w.count() >= before+4 })
		t.Logf("%-12s was killed; 4 answers more within %v", p.name, time.Since(begun).Round(10*time.Millisecond))
	}
	stop()
	w.wait(h)
	s.collect(t, h)
	h.Verify(t, history.EndsOnce, history.OneGeneration, history.NothingLost)
}

// ring starts the tiny model on a root and three workers, each below a supervisor,
// and their sidecar. It returns the supervisors.
func (s *stack) ring(t *testing.T, dir string) []*process {
	t.Helper()
	model, tokenizer := s.convertTiny(t)
	var nodes []*process
	key := filepath.Join(t.TempDir(), "key")
	supervisor := func(name string, waitFor []string, command ...string) (health string) {
		health = address(t)
		args := []string{s.bin, "supervise", "--health-listen=" + health}
		if len(waitFor) > 0 {
			args = append(args, "--restart-key-file="+key)
		}
		for _, w := range waitFor {
			args = append(args, "--wait-for="+w)
		}
		args = append(append(args, "--"), command...)
		nodes = append(nodes, s.processes.start(name, nil, append(args, "--host", "127.0.0.1", "--nthreads", "1", "--net-turbo", "0")...))
		return health
	}
	var waitFor, peers []string
	for i := range 3 {
		port := strconv.Itoa(porttest.Port(t))
		waitFor = append(waitFor, supervisor(fmt.Sprint("worker", i), nil, filepath.Join(dir, "dllama"), "worker", "--port", port))
		peers = append(peers, "127.0.0.1:"+port)
	}
	port := strconv.Itoa(porttest.Port(t))
	root := supervisor("root", waitFor, append([]string{
		filepath.Join(dir, "dllama-api"), "--model", model, "--tokenizer", tokenizer, "--buffer-float-type", "f32",
		"--port", port, "--temperature", "0", "--max-seq-len", "256", "--workers",
	}, peers...)...)
	s.sidecarHealth = address(t)
	s.sidecars = append(s.sidecars, s.processes.start("sidecar", s.logins.envOfRunner(plan{}, "ring"),
		s.bin, "llm", "--listen="+s.sidecarHealth, "--engine=http://127.0.0.1:"+port, "--supervisor=http://"+root, "--restart-key-file="+key,
		"--session="+names.Session(namespace, modelName, ""), "--runner=ring", "--model="+modelID, "--between=5s", "--first=5s"))
	ready(t, s.sidecarHealth)
	return nodes
}

// convertTiny converts the tiny model to f32, because its answers do not depend on
// the number of nodes.
func (s *stack) convertTiny(t *testing.T) (model, tokenizer string) {
	t.Helper()
	from, err := dirstore.Open("../../examples/models/koldun-tiny")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	to, err := dirstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := convert.Run(t.Context(), convert.Config{From: from, To: to, Name: modelName, Weights: topology.F32, Only: convert.Both}); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, names.ModelFile(modelName, string(topology.F32))), filepath.Join(dir, names.TokenizerFile(modelName))
}

// ask runs n clients that ask a real engine the same question until ctx ends.
func (w *workload) ask(ctx context.Context, n int) {
	for c := range n {
		w.wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				p := history.Prompt{ID: fmt.Sprintf("c%d-%d", c, i), Question: question, Want: reply, N: len(reply)}
				e := history.ChatRequest{Prompt: p, Stream: i%3 != 2}.Send(context.Background(), w.client, w.s.urls[0])
				w.add(e)
			}
		})
	}
}
