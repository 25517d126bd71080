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

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/waittest"
)

// arranged measures a stack of one process, and one of as many processes as in a
// cluster, where each message has to wake those it is for.
func arranged(b *testing.B, p plan, measure func(b *testing.B, s *stack)) {
	p.tenants = []tenant{newTenant("bench")}
	for _, a := range []struct {
		name string
		new  func(*testing.B) *stack
	}{
		{"together", func(b *testing.B) *stack { return newTogether(b, p) }},
		{"apart", func(b *testing.B) *stack { return newStack(b, p) }},
	} {
		b.Run(a.name, func(b *testing.B) {
			s := a.new(b)
			s.tenant = p.tenants[0]
			measure(b, s)
		})
	}
}

// onDisk measures with NATS in memory, and with each write on disk before it is
// confirmed.
func onDisk(b *testing.B, p plan, measure func(b *testing.B, s *stack)) {
	b.Run("memory", func(b *testing.B) { arranged(b, p, measure) })
	p.sync = true
	b.Run("disk", func(b *testing.B) { arranged(b, p, measure) })
}

// BenchmarkFirstByte is the time to the first byte of text, with everything
// idle, of the same engine behind everything: asked directly, through Go's own
// reverse proxy, and through Koldun. p50-us are medians; publish-us is that of
// a raw JetStream publish in the same run, and floor-us that of a message
// through as many processes as stand between a client and an engine.
func BenchmarkFirstByte(b *testing.B) {
	onDisk(b, plan{gateways: 1, dispatchers: 1, runners: 1}, func(b *testing.B, s *stack) {
		proxy := s.reverseProxy(b)
		var direct, proxied, served, published, bare []time.Duration
		through := s.floorOf(b)
		conn := s.bus()
		subject := benchStream(b, conn)
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
				case to != proxy: // which now and then loses an answer of an engine that closes at once
					b.Fatal(err)
				}
			}
			time.Sleep(5 * time.Millisecond) // the end is reported; everything is idle again
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

// BenchmarkChunkCPU is the CPU time of all our processes together, NATS
// included, for one streamed chunk of a long answer, by how far apart they
// come. floor-us is that of processes which pass chunks on and nothing else. In
// one process it is what all take beyond engines and clients alone, which are
// measured with clients that read as rarely as those of Koldun have to.
func BenchmarkChunkCPU(b *testing.B) {
	for every, pieces := range map[time.Duration]int{0: 2000, time.Millisecond: 2000, 20 * time.Millisecond: 200} {
		b.Run(fmt.Sprintf("every=%v", every), func(b *testing.B) {
			arranged(b, plan{gateways: 1, dispatchers: 1, runners: 4}, func(b *testing.B, s *stack) {
				long := wish{N: pieces, Every: every}
				s.streams(b, long, s.urls, 0) // warm
				before, streams := s.used(), 0
				for b.Loop() {
					streams += s.streams(b, long, s.urls, 0)
				}
				took := per(before, s.used(), streams*pieces)
				if s.processes == nil {
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
					bare := newFloor(b, s, 0).chunkCPU(b, pieces, every)
					b.ReportMetric(bare, "floor-us/chunk")
					b.ReportMetric(took["all"]/bare, "x-floor")
				}
			})
		})
	}
}

// streams reads four answers at the same time, to their ends, from the servers
// in turn. It returns how many they were.
func (s *stack) streams(b *testing.B, long wish, urls []string, lull time.Duration) int {
	b.Helper()
	const streams = 4
	var wg sync.WaitGroup
	for i := range streams {
		c := newCourier(b, urls[i%len(urls)], s.tenant)
		c.lull = lull
		long.ID = fmt.Sprintf("b%d", i)
		wg.Go(func() {
			if err := c.ask(long, true); err != nil {
				b.Error(err)
			}
			c.close()
		})
	}
	wg.Wait()
	return streams
}

// BenchmarkThroughput is how many requests per second go through everything,
// with engines that answer at once, against how many publishes one connection
// with as many in flight gets confirmed meanwhile.
func BenchmarkThroughput(b *testing.B) {
	const clients, each = 64, 2000
	onDisk(b, plan{gateways: 1, dispatchers: 1, runners: 8}, func(b *testing.B, s *stack) {
		conn := s.bus()
		subject := benchStream(b, conn)
		couriers := func(urls []string) func(client, i int) {
			all := make([]*courier, clients)
			for i := range all {
				all[i] = newCourier(b, urls[i%len(urls)], s.tenant)
			}
			return func(client, i int) {
				if err := all[client].ask(wish{ID: fmt.Sprintf("t%d", i), N: 1}, false); err != nil {
					b.Error(err)
				}
			}
		}
		serve := couriers(s.urls)
		raw := func(int, int) { publish(b, conn, subject) }
		parallel(each, clients, serve) // warm
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

// parallel calls one so often, for so many clients at the same time, and returns
// how many calls per second ended.
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
// engines work through them, and reports the gateway's memory for each: with
// the garbage that Go leaves usually, and with little of it (GOGC=10), which is
// near what is in use. All streams are opened at once, and none may be refused.
func BenchmarkOpenStreams(b *testing.B) {
	for _, gogc := range []string{"100", "10"} {
		b.Run("GOGC="+gogc, func(b *testing.B) {
			s := newStack(b, plan{gateways: 1, dispatchers: 1, runners: 8, gatewayEnv: []string{"GOGC=" + gogc}})
			heap, stack := s.memory(b) // once: what one round leaves would be the next one's
			for b.Loop() {
				s.openStreams(b, 2000, heap, stack)
			}
		})
	}
}

// openStreams reports the memory of so many streams beyond what the gateway had
// in use before any.
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
			body := chatBody(wish{ID: fmt.Sprintf("o%d", i), N: 1 << 20, Every: 10 * time.Millisecond})
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

// memory is the gateway's heap and stack in use, in bytes.
func (s *stack) memory(b *testing.B) (heap, stack float64) {
	b.Helper()
	for name, v := range map[string]*float64{"go_memstats_heap_inuse_bytes": &heap, "go_memstats_stack_inuse_bytes": &stack} {
		if _, err := fmt.Sscan(metric(b, s.gatewayHealth[0], name), v); err != nil {
			b.Fatal(err)
		}
	}
	return heap, stack
}

// used is the CPU time that each of our processes has used, and NATS; "all" is
// that of all of them, or of this process if there are no others.
func (s *stack) used() map[string]time.Duration {
	if s.processes == nil {
		return map[string]time.Duration{"all": cpu(s.tb)}
	}
	return used(slices.Concat(s.gateways, s.dispatchers, s.sidecars, []*process{s.nats}))
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

// per is what was used between, in microseconds for each of n.
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

// reverseProxy is what a plain proxy in Go adds, in a process of its own if all
// are.
func (s *stack) reverseProxy(b *testing.B) string {
	b.Helper()
	listen := address(b)
	if s.processes == nil {
		srv := newProxy(listen, s.engineURLs[0])
		go func() { _ = srv.ListenAndServe() }() // until it is closed
		b.Cleanup(func() { _ = srv.Close() })
	} else {
		s.process("proxy", nil, os.Args[0], "role-proxy", listen, s.engineURLs[0])
	}
	waittest.Until(b, "the proxy", func() bool {
		resp, err := http.Get("http://" + listen + "/v1/models")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil
	})
	return "http://" + listen
}

func newProxy(listen, to string) *http.Server {
	// It flushes each event; anything less would be no fair baseline.
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(mustURL(to)) }}
	return &http.Server{Addr: listen, Handler: proxy, ReadHeaderTimeout: time.Minute}
}

func roleProxy(listen, to string) {
	if err := newProxy(listen, to).ListenAndServe(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// benchStream is a stream as the request stream is, for raw publishes.
func benchStream(b *testing.B, conn *bus.Bus) string {
	b.Helper()
	_, err := conn.JetStream().CreateStream(b.Context(), jetstream.StreamConfig{
		Name: "BENCH", Subjects: []string{"bench.*"}, Storage: jetstream.FileStorage, MaxMsgs: 10000,
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

// firstByte is the time until the first text of a streamed answer, on a
// connection of its own: the engine closes each, and so nobody reuses one.
func firstByte(url string, from tenant, i int) (time.Duration, error) {
	begun := time.Now()
	req, err := http.NewRequest(http.MethodPost, url+"/v1/chat/completions", chatBody(wish{ID: fmt.Sprintf("f%d", i), N: 1}))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	from.sign(req)
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
