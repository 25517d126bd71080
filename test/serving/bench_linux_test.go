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

// disk says whether NATS makes each write reach the disk.
var disk = map[bool]string{false: "memory", true: "disk"} //nolint:gochecknoglobals // names of the two settings

// BenchmarkFirstByte is the time to the first byte of text, with everything
// idle, of the same engine behind everything: asked directly, through Go's own
// reverse proxy, and through Koldun. p50-us are medians; publish-us is that of
// a raw JetStream publish in the same run, and floor-us that of a message
// through as many processes as stand between a client and an engine.
func BenchmarkFirstByte(b *testing.B) {
	for _, durable := range []bool{false, true} {
		b.Run(disk[durable], func(b *testing.B) {
			s := newStack(b, plan{gateways: 1, dispatchers: 1, runners: 1, sync: durable})
			proxy := reverseProxy(b, s.engineURLs[0])
			var direct, proxied, served, published, bare []time.Duration
			chain := newFloor(b, s, 2)
			in, out := chain.lane(b, "first")
			conn := s.bus()
			subject := benchStream(b, conn)
			for i := 0; b.Loop(); i++ {
				published = append(published, publish(b, conn, subject))
				bare = append(bare, chain.once(b, in, out))
				for to, took := range map[string]*[]time.Duration{s.engineURLs[0]: &direct, proxy: &proxied, s.urls[0]: &served} {
					d, err := firstByte(to, i)
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
			b.ReportMetric(us(bare), "floor-p50-us")
			b.ReportMetric(us(served)-us(direct), "added-p50-us")
			b.ReportMetric((us(served)-us(direct))/us(bare), "x-floor")
			b.ReportMetric(us(served)-us(direct)-us(published), "added-beyond-publish-us")
		})
	}
}

// BenchmarkChunkCPU is the CPU time of all our processes together, NATS
// included, for one streamed chunk of a long answer, by how far apart they
// come. floor-us is that of processes which pass chunks on and nothing else.
func BenchmarkChunkCPU(b *testing.B) {
	for every, pieces := range map[time.Duration]int{0: 2000, time.Millisecond: 2000, 20 * time.Millisecond: 200} {
		b.Run(fmt.Sprintf("every=%v", every), func(b *testing.B) {
			s := newStack(b, plan{gateways: 1, dispatchers: 1, runners: 4})
			ours := slices.Concat(s.gateways, s.dispatchers, s.sidecars, []*process{s.nats})
			before := used(ours)
			streams := 0
			for b.Loop() {
				var wg sync.WaitGroup
				for i := range 4 {
					wg.Go(func() {
						e := ask(b.Context(), http.DefaultClient, s.urls[0], wish{ID: fmt.Sprintf("b%d", i), N: pieces, Every: every}, true, 0)
						if e.verdict != ok {
							b.Errorf("%s: %s", e.verdict, e.code)
						}
					})
				}
				wg.Wait()
				streams += 4
			}
			after := used(ours)
			total := 0.0
			for _, p := range ours {
				us := float64((after[p] - before[p]).Nanoseconds()) / 1000 / float64(streams*pieces)
				total += us
				if p.name == "gateway0" || p.name == "nats" {
					b.ReportMetric(us, p.name+"-us/chunk")
				}
			}
			b.ReportMetric(total, "cpu-us/chunk")
			if every > 0 {
				bare := newFloor(b, s, 0).chunkCPU(b, pieces, every)
				b.ReportMetric(bare, "floor-us/chunk")
				b.ReportMetric(total/bare, "x-floor")
			}
		})
	}
}

// BenchmarkThroughput is how many requests per second go through everything,
// with engines that answer at once, against how many publishes one connection
// with as many in flight gets confirmed.
func BenchmarkThroughput(b *testing.B) {
	const clients = 64
	for _, durable := range []bool{false, true} {
		b.Run(disk[durable], func(b *testing.B) {
			s := newStack(b, plan{gateways: 1, dispatchers: 1, runners: 8, sync: durable})
			conn := s.bus()
			subject := benchStream(b, conn)
			rate := func(n int, one func(i int)) float64 {
				begun := time.Now()
				var next atomic.Int64
				var wg sync.WaitGroup
				for range clients {
					wg.Go(func() {
						for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
							one(i)
						}
					})
				}
				wg.Wait()
				return float64(n) / time.Since(begun).Seconds()
			}
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
			serve := func(i int) {
				e := ask(b.Context(), client, s.urls[0], wish{ID: fmt.Sprintf("t%d", i), N: 1}, false, 0)
				if e.verdict != ok {
					b.Errorf("%s: %d %s", e.verdict, e.status, e.code)
				}
			}
			rate(200, serve) // warm
			publishes := rate(2000, func(int) { publish(b, conn, subject) })
			ours := slices.Concat(s.gateways, s.dispatchers, s.sidecars, []*process{s.nats})
			before := used(ours)
			n := 0
			total := 0.0
			for b.Loop() {
				total += rate(2000, serve)
				n++
			}
			after := used(ours)
			b.ReportMetric(total/float64(n), "req/s")
			b.ReportMetric(publishes, "publish/s")
			b.ReportMetric(100*total/float64(n)/publishes, "%-of-publish")
			sum := 0.0
			for _, p := range ours {
				us := float64((after[p] - before[p]).Microseconds()) / float64(2000*n)
				sum += us
				if strings.HasSuffix(p.name, "0") || p.name == "nats" {
					b.ReportMetric(us, p.name+"-us/req")
				}
			}
			b.ReportMetric(sum, "cpu-us/req")
		})
	}
}

// BenchmarkOpenStreams holds 2,000 streams open at one gateway while eight
// engines work through them, and reports the gateway's memory for each: with
// the garbage that Go leaves usually, and with little of it (GOGC=10), which is
// near what is in use. All streams are opened at once, and none may be refused.
func BenchmarkOpenStreams(b *testing.B) {
	for _, gogc := range []string{"100", "10"} {
		b.Run("GOGC="+gogc, func(b *testing.B) {
			s := newStack(b, plan{gateways: 1, dispatchers: 1, runners: 8, gatewayEnv: []string{"GOGC=" + gogc}})
			for b.Loop() {
				s.openStreams(b, 2000)
			}
		})
	}
}

func (s *stack) openStreams(b *testing.B, streams int) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams}}
	heap, stack := s.memory(b)
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

func used(ours []*process) map[*process]time.Duration {
	all := map[*process]time.Duration{}
	for _, p := range ours {
		all[p] = p.cpu()
	}
	return all
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// reverseProxy is what a plain proxy in Go adds, in a process of its own.
func reverseProxy(b *testing.B, to string) string {
	b.Helper()
	listen := address(b)
	s := &stack{tb: b, dir: b.TempDir()}
	s.process("proxy", nil, os.Args[0], "role-proxy", listen, to)
	waittest.Until(b, "the proxy", func() bool {
		resp, err := http.Get("http://" + listen + "/v1/models")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err == nil
	})
	return "http://" + listen
}

func roleProxy(listen, to string) {
	// It flushes each event; anything less would be no fair baseline.
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(mustURL(to)) }}
	srv := &http.Server{Addr: listen, Handler: proxy, ReadHeaderTimeout: time.Minute}
	if err := srv.ListenAndServe(); err != nil {
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
func firstByte(url string, i int) (time.Duration, error) {
	begun := time.Now()
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", chatBody(wish{ID: fmt.Sprintf("f%d", i), N: 1}))
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
