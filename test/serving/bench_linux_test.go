package serving_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// forEachLayout measures a stack in one process, and one of as many processes as in
// a cluster, where the operating system switches processes for each message.
func forEachLayout(b *testing.B, p plan, measure func(b *testing.B, s *stack)) {
	p.tenants = []history.Tenant{history.NewTenant("bench")}
	for _, a := range []struct {
		name string
		new  func(*testing.B) *stack
	}{
		{"one-process", func(b *testing.B) *stack { return newInProcess(b, p) }},
		{"many-processes", func(b *testing.B) *stack { return newStack(b, p) }},
	} {
		b.Run(a.name, func(b *testing.B) {
			s := a.new(b)
			s.tenant = p.tenants[0]
			measure(b, s)
		})
	}
}

// forEachStorage measures with NATS writes that are not synced, and with each write
// synced to disk before it is confirmed.
func forEachStorage(b *testing.B, p plan, measure func(b *testing.B, s *stack)) {
	b.Run("memory", func(b *testing.B) { forEachLayout(b, p, measure) })
	p.sync = true
	b.Run("disk", func(b *testing.B) { forEachLayout(b, p, measure) })
}

// BenchmarkFirstByte measures the time to the first byte of text from the same idle
// engine: directly, through the reverse proxy of net/http/httputil, and through
// Koldun. All are medians; publish-p50-us is a raw JetStream publish in the same run,
// and floor-p50-us a message through as many processes as there are between a client
// and an engine.
func BenchmarkFirstByte(b *testing.B) {
	forEachStorage(b, plan{gateways: 1, dispatchers: 1, runners: 1}, func(b *testing.B, s *stack) {
		proxy := s.reverseProxy(b)
		var direct, proxied, served, published, bare []time.Duration
		through := s.relayLatency(b)
		conn := s.broker.bus()
		subject := benchStream(b, conn, 1)
		for i := 0; b.Loop(); i++ {
			published = append(published, publish(b, conn, subject))
			if through != nil {
				bare = append(bare, through())
			}
			for to, took := range map[string]*[]time.Duration{s.engineURLs[0]: &direct, proxy: &proxied, s.urls[0]: &served} {
				d, err := firstByte(to, s.tenant, i)
				switch {
				case err == nil:
					*took = append(*took, d)
				case to != proxy: // the proxy sometimes loses an answer of an engine that closes at once
					b.Fatal(err)
				}
			}
			time.Sleep(5 * time.Millisecond) // wait until the end is reported and all processes are idle
		}
		us := func(d []time.Duration) float64 { return float64(median(d).Nanoseconds()) / 1000 }
		b.ReportMetric(us(direct), "direct-p50-us")
		b.ReportMetric(us(proxied), "proxy-p50-us")
		b.ReportMetric(us(served), "koldun-p50-us")
		b.ReportMetric(us(published), "publish-p50-us")
		b.ReportMetric(us(served)-us(direct), "added-p50-us")
		b.ReportMetric(us(served)-us(direct)-us(published), "added-beyond-publish-us")
		if through != nil {
			b.ReportMetric(us(bare), "floor-p50-us")
			b.ReportMetric((us(served)-us(direct))/us(bare), "x-floor")
		}
	})
}

// BenchmarkChunkCPU measures the CPU time of all Koldun processes and NATS for one
// streamed chunk of a long answer, by the interval between chunks. floor-us/chunk is
// that of processes that only forward chunks. In one process, the CPU time of
// engines and clients alone is subtracted; it is measured with clients that read as
// rarely as those of Koldun need to.
func BenchmarkChunkCPU(b *testing.B) {
	for every, pieces := range map[time.Duration]int{0: 2000, time.Millisecond: 2000, 20 * time.Millisecond: 200} {
		b.Run(fmt.Sprintf("every=%v", every), func(b *testing.B) {
			forEachLayout(b, plan{gateways: 1, dispatchers: 1, runners: 4}, func(b *testing.B, s *stack) {
				long := history.Prompt{N: pieces, Every: every}
				s.streams(b, long, s.urls, 0) // warm up
				before, streams := s.used(), 0
				for b.Loop() {
					streams += s.streams(b, long, s.urls, 0)
				}
				took := per(before, s.used(), streams*pieces)
				if s.processes.all == nil {
					before = s.used()
					n := s.streams(b, long, s.engineURLs, 20*time.Millisecond)
					alone := per(before, s.used(), n*pieces)
					b.ReportMetric(alone["all"], "others-us/chunk")
					b.ReportMetric(took["all"]-alone["all"], "cpu-us/chunk")
					return
				}
				b.ReportMetric(took["gateway0"], "gateway0-us/chunk")
				b.ReportMetric(took["nats"], "nats-us/chunk")
				b.ReportMetric(took["all"], "cpu-us/chunk")
				if every > 0 {
					bare := newRelayChain(b, s, 0).chunkCPU(b, pieces, every)
					b.ReportMetric(bare, "floor-us/chunk")
					b.ReportMetric(took["all"]/bare, "x-floor")
				}
			})
		})
	}
}

// streams reads four whole answers at the same time, from the servers in turn, and
// returns their number.
func (s *stack) streams(b *testing.B, long history.Prompt, urls []string, readDelay time.Duration) int {
	b.Helper()
	const streams = 4
	var wg sync.WaitGroup
	for i := range streams {
		c := newLightClient(b, urls[i%len(urls)], s.tenant)
		c.readDelay = readDelay
		long.ID = fmt.Sprintf("b%d", i)
		wg.Go(func() {
			if err := c.send(long, true); err != nil {
				b.Error(err)
			}
			c.close()
		})
	}
	wg.Wait()
	return streams
}

// BenchmarkThroughput measures the requests per second with engines that answer at
// once, and compares them with the confirmed publishes per second of one connection
// with as many in flight.
func BenchmarkThroughput(b *testing.B) {
	const clients, each = 64, 2000
	forEachStorage(b, plan{gateways: 1, dispatchers: 1, runners: 8}, func(b *testing.B, s *stack) {
		conn := s.broker.bus()
		subject := benchStream(b, conn, 1)
		clientsOf := func(urls []string) func(client, i int) {
			all := make([]*lightClient, clients)
			for i := range all {
				all[i] = newLightClient(b, urls[i%len(urls)], s.tenant)
			}
			return func(client, i int) {
				if err := all[client].send(history.Prompt{ID: fmt.Sprintf("t%d", i), N: 1}, false); err != nil {
					b.Error(err)
				}
			}
		}
		serve := clientsOf(s.urls)
		raw := func(int, int) { publish(b, conn, subject) }
		parallel(each, clients, serve) // warm up
		var served, published, n float64
		took := map[string]float64{}
		for b.Loop() {
			published += parallel(each, clients, raw)
			before := s.used()
			served += parallel(each, clients, serve)
			for name, us := range per(before, s.used(), each) {
				took[name] += us
			}
			n++
		}
		b.ReportMetric(served/n, "req/s")
		b.ReportMetric(published/n, "publish/s")
		b.ReportMetric(100*served/published, "%-of-publish")
		for name, us := range took {
			if strings.HasSuffix(name, "0") || name == "nats" {
				b.ReportMetric(us/n, name+"-us/req")
			}
		}
		b.ReportMetric(took["all"]/n, "cpu-us/req")
	})
}

// parallel makes the given number of calls with the given number of concurrent
// clients, and returns the calls per second.
func parallel(calls, clients int, one func(client, i int)) float64 {
	begun := time.Now()
	var next atomic.Int64
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for i := int(next.Add(1)); i <= calls; i = int(next.Add(1)) {
				one(client, i)
			}
		})
	}
	wg.Wait()
	return float64(calls) / time.Since(begun).Seconds()
}

// BenchmarkOpenStreams holds 2,000 streams open at one gateway while eight
// engines work through them, and reports the gateway's memory per stream: with the
// default garbage collection, and with GOGC=10, which is close to the live heap. All
// streams are opened at once, and none may be refused.
func BenchmarkOpenStreams(b *testing.B) {
	for _, gogc := range []string{"100", "10"} {
		b.Run("GOGC="+gogc, func(b *testing.B) {
			s := newStack(b, plan{gateways: 1, dispatchers: 1, runners: 8, gatewayEnv: []string{"GOGC=" + gogc}})
			heap, stack := s.memory(b) // once: later rounds would include the memory of earlier ones
			for b.Loop() {
				s.openStreams(b, 2000, heap, stack)
			}
		})
	}
}

// openStreams reports the gateway's memory per stream above the given heap and
// stack, both in bytes.
func (s *stack) openStreams(b *testing.B, streams int, heap, stack float64) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams}}
	ctx, cancel := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	var open atomic.Int64
	for i := range streams {
		wg.Go(func() {
			body := history.ChatBody(history.Prompt{ID: fmt.Sprintf("o%d", i), N: 1 << 20, Every: 10 * time.Millisecond})
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.urls[0]+"/v1/chat/completions", body)
			if err != nil {
				b.Error(err)
				return
			}
			resp, err := client.Do(req)
			if err != nil {
				b.Error(err)
				return
			}
			defer func() { _ = resp.Body.Close() }()
			if resp.StatusCode != http.StatusOK {
				b.Errorf("status %d", resp.StatusCode)
				return
			}
			open.Add(1)
			_, _ = io.Copy(io.Discard, resp.Body)
		})
	}
	waittest.Until(b, "all streams to be open", func() bool { return open.Load() == int64(streams) || b.Failed() })
	heapThen, stackThen := s.memory(b)
	each := float64(streams) * 1024
	b.ReportMetric((stackThen-stack)/each, "stack-KiB/stream")
	b.ReportMetric((heapThen-heap+stackThen-stack)/each, "KiB/stream")
}

// memory returns the gateway's heap and stack in use, in bytes.
func (s *stack) memory(b *testing.B) (heap, stack float64) {
	b.Helper()
	for name, v := range map[string]*float64{"go_memstats_heap_inuse_bytes": &heap, "go_memstats_stack_inuse_bytes": &stack} {
		if _, err := fmt.Sscan(metric(b, s.gatewayHealth[0], name), v); err != nil {
			b.Fatal(err)
		}
	}
	return heap, stack
}

// used returns the CPU time of each Koldun process and of NATS by name, and under
// "all" their sum, or that of this process if there are no others.
func (s *stack) used() map[string]time.Duration {
	if s.processes.all == nil {
		return map[string]time.Duration{"all": cpu(s.tb)}
	}
	return used(slices.Concat(s.gateways, s.dispatchers, s.sidecars, []*process{s.broker.process}))
}

func used(ours []*process) map[string]time.Duration {
	took := map[string]time.Duration{}
	for _, p := range ours {
		d := p.cpu()
		took[p.name] = d
		took["all"] += d
	}
	return took
}

// per returns the differences in microseconds, divided by n.
func per(before, after map[string]time.Duration, n int) map[string]float64 {
	each := map[string]float64{}
	for name := range after {
		each[name] = float64((after[name] - before[name]).Nanoseconds()) / 1000 / float64(n)
	}
	return each
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// reverseProxy starts a plain Go reverse proxy, in its own process if the stack has
// processes, and returns its URL.
func (s *stack) reverseProxy(b *testing.B) string {
	b.Helper()
	listen := address(b)
	if s.processes.all == nil {
		srv := newProxy(listen, s.engineURLs[0])
		go func() { _ = srv.ListenAndServe() }() // until it is closed
		b.Cleanup(func() { _ = srv.Close() })
	} else {
		s.processes.start("proxy", nil, os.Args[0], "role-proxy", listen, s.engineURLs[0])
	}
	waittest.Until(b, "the proxy to listen", func() bool {
		resp, err := http.Get("http://" + listen + "/v1/models")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil
	})
	return "http://" + listen
}

func newProxy(listen, to string) *http.Server {
	// Flush each event, for a fair comparison.
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(mustURL(to)) }}
	return &http.Server{Addr: listen, Handler: proxy, ReadHeaderTimeout: time.Minute}
}

func roleProxy(listen, to string) {
	if err := newProxy(listen, to).ListenAndServe(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// benchStream creates a stream like the request stream, and returns its subject.
func benchStream(b *testing.B, conn *bus.Bus, replicas int) string {
	b.Helper()
	_, err := conn.JetStream().CreateStream(b.Context(), jetstream.StreamConfig{
		Name: "BENCH", Subjects: []string{"bench.*"}, Storage: jetstream.FileStorage, MaxMsgs: 10000, Replicas: replicas,
	})
	if err != nil {
		b.Fatal(err)
	}
	return "bench.x"
}

func publish(b *testing.B, conn *bus.Bus, subject string) time.Duration {
	b.Helper()
	begun := time.Now()
	if _, err := conn.JetStream().Publish(b.Context(), subject, bytes.Repeat([]byte("x"), 400)); err != nil {
		b.Fatal(err)
	}
	return time.Since(begun)
}

// firstByte returns the time to the first text of a streamed answer on a new
// connection, because the engine closes each.
func firstByte(url string, from history.Tenant, i int) (time.Duration, error) {
	begun := time.Now()
	req, err := http.NewRequest(http.MethodPost, url+"/v1/chat/completions", history.ChatBody(history.Prompt{ID: fmt.Sprintf("f%d", i), N: 1}))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	from.Sign(req)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	buf := make([]byte, 0, 4096)
	for {
		n, err := resp.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if bytes.Contains(buf, []byte(`"content":"f`)) {
			break
		}
		if err != nil {
			return 0, fmt.Errorf("%d, %w: %s", resp.StatusCode, err, buf)
		}
	}
	took := time.Since(begun)
	_, err = io.Copy(io.Discard, resp.Body)
	return took, err
}
