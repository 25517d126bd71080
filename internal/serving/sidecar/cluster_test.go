package sidecar_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// newClusterWorld returns a world with streams and buckets on three servers.
func newClusterWorld(t *testing.T) (*world, *natstest.Cluster) {
	t.Helper()
	c := natstest.StartCluster(t, 3)
	w := &world{t: t, url: c.URL()}
	w.bus = w.connect("client")
	for _, s := range bus.Streams() {
		s.Replicas = 3
		if err := w.bus.EnsureStream(w.ctx(), s); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range bus.Buckets() {
		s.Replicas = 3
		if err := w.bus.EnsureKV(w.ctx(), s); err != nil {
			t.Fatal(err)
		}
	}
	return w, c
}

// streamLeader returns the server that leads the request stream, or -1 if none does.
func (w *world) streamLeader(c *natstest.Cluster) int {
	s, err := w.bus.JetStream().Stream(w.ctx(), names.RequestStream)
	if err != nil || s.CachedInfo().Cluster == nil {
		return -1
	}
	return c.Index(s.CachedInfo().Cluster.Leader)
}

// While a cluster repeatedly loses the server that leads the request stream, no request
// is lost or repeated, and no answer is cut without an error.
func TestClusterLosesItsLeader(t *testing.T) {
	t.Parallel()
	const clients, losses = 4, 3
	w, c := newClusterWorld(t)
	pieces := func(id string) string { return strings.Repeat(id+" ", 8) + "end" }
	for i := range 2 {
		w.sidecar(fmt.Sprintf("r%d", i), enginetest.Start(t, nil))
		w.dispatcher(fmt.Sprintf("d%d", i))
	}
	stop := make(chan struct{})
	var mu sync.Mutex
	var histories []history
	var running sync.WaitGroup
	end := sync.OnceFunc(func() { close(stop); running.Wait() })
	defer end() // goroutines must not use t after the test
	served := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(histories)
	}
	for n := range clients {
		running.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				id := fmt.Sprintf("req_%d_%d", n, i)
				r := chat(id, pieces(id))
				r.Tenant = fmt.Sprintf("t%d", n)
				cl := w.send(r)
				h := history{id: id, want: pieces(id)}
				h.text, h.last = cl.finish()
				h.outcome = cl.outcome()
				mu.Lock()
				histories = append(histories, h)
				mu.Unlock()
			}
		})
	}
	for range losses {
		from := served()
		w.eventually("requests to flow", func() bool { return served() >= from+10 })
		leader := -1
		w.eventually("a leader of the request stream", func() bool {
			leader = w.streamLeader(c)
			return leader >= 0
		})
		c.Stop(leader)
		from = served()
		w.eventually("requests to flow without it", func() bool { return served() >= from+10 })
		c.Restart(leader)
		c.WaitCurrent(leader)
	}
	end()
	completed := 0
	for _, h := range histories {
		if err := h.check(); err != nil {
			t.Error(err)
		}
		if h.outcome.State == queue.Completed {
			completed++
		}
	}
	w.empty()
	t.Logf("%d requests, %d completed, %d losses of the leader", len(histories), completed, losses)
	if completed < 2*losses*10 {
		t.Errorf("%d of %d requests completed", completed, len(histories))
	}
}
