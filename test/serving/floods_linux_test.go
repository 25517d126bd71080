package serving_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	corev1 "k8s.io/api/core/v1"

	"github.com/gorizond/koldun/functions/memory"
	"github.com/gorizond/koldun/internal/local/proxy"
	"github.com/gorizond/koldun/test/history"
	"github.com/gorizond/koldun/test/hostile/bodies"
	"github.com/gorizond/koldun/test/waittest"
)

// sink is a model that no runner serves: what asks for it waits in the queue.
const sink = "sink"

// The sizes of floods.
const (
	largest   = 8<<20 - 16<<10 // bytes of a body that NATS takes with its envelope
	senders   = 8              // of each tenant
	stalled   = 4000           // connections of each tenant
	attackers = 4              // tenants
)

// A flood is an attack of one tenant until ctx ends.
type flood struct {
	name string
	run  func(ctx context.Context, addr string, as history.Tenant)
}

func floods() []flood {
	out := []flood{{"sockets", floodSockets}, {"stalled bodies", floodStalled}, {"headers", floodHeaders}}
	for _, b := range bodies.All() {
		out = append(out, flood{b.Path + " " + b.Name, floodBodies(b)})
	}
	return out
}

// TestFloodsEndNoGateway floods a gateway that has the memory of its pod, behind the proxy of
// `koldun up`, from one tenant and from four. It is not killed, streams of others go on, and their small requests do not
// wait.
func TestFloodsEndNoGateway(t *testing.T) {
	seconds, _ := strconv.Atoi(os.Getenv("KOLDUN_FLOOD"))
	if seconds == 0 {
		t.Skip("it takes a minute of all processors: make flood")
	}
	limits := memory.Complete(corev1.ResourceRequirements{}, memory.Gateway(memory.UsualBodies), memory.Usual)
	group := newCgroup(t, limits.Limits.Memory().Value())
	victim := history.NewTenant("victim")
	tenants := []history.Tenant{victim}
	for i := range attackers {
		tenants = append(tenants, history.NewTenant(fmt.Sprintf("attacker%d", i)))
	}
	s := newStack(t, plan{
		gateways: 1, dispatchers: 1, runners: 1, slots: 8, tenants: tenants,
		gatewayUnder: group.run(), gatewayEnv: []string{memory.EnvGoLimit + "=" + memory.GoLimit(limits)},
	})
	b := s.broker.bus()
	s.registerModel(b, sink)
	b.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	waittest.Until(t, "the victim is served", func() bool {
		return history.ChatRequest{Prompt: history.Prompt{ID: victim.Mark, N: 1}, From: victim}.Send(t.Context(), client, s.urls[0]).Verdict == history.OK
	})
	front := upProxy(t, strings.TrimPrefix(s.urls[0], "http://"))
	v := &bystander{t: t, client: client, url: "http://" + front, as: victim}
	all := floods()
	each := time.Duration(seconds) * time.Second / time.Duration(2*len(all))
	for _, count := range []int{1, attackers} {
		for _, f := range all {
			name := fmt.Sprintf("%s of %d", f.name, count)
			v.during(name, func() {
				ctx, cancel := context.WithTimeout(t.Context(), each)
				defer cancel()
				var wg sync.WaitGroup
				for _, as := range tenants[1 : 1+count] {
					wg.Go(func() { f.run(ctx, front, as) })
				}
				wg.Wait()
			})
			if !s.gateways[0].ran() {
				t.Fatalf("the gateway has ended in the flood of %s, with %d MiB of %d", name, group.peak()>>20, limits.Limits.Memory().Value()>>20)
			}
		}
	}
	t.Logf("the gateway has had %d MiB of %d at most; the longest small request of another tenant took %v, in the flood of %s",
		group.peak()>>20, limits.Limits.Memory().Value()>>20, v.worst.Round(time.Millisecond), v.when)
	if most := waittest.Limit(time.Second); v.worst > most {
		t.Errorf("a small request of another tenant took %v, want at most %v", v.worst, most)
	}
}

// upProxy runs the proxy that `koldun up` has before its gateways, and returns its address.
func upProxy(t *testing.T, backend string) string {
	t.Helper()
	p, err := proxy.Listen(t.Context(), 0, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	p.Set([]string{backend})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Serve(ctx)
	}()
	t.Cleanup(func() {
		p.Close()
		cancel()
		waittest.Receive(t, "the proxy ends", done)
	})
	return p.Address()
}

// A bystander is another tenant, with streams and small requests.
type bystander struct {
	t      *testing.T
	client *http.Client
	url    string
	as     history.Tenant

	n     int
	worst time.Duration
	when  string // the flood of the worst
}

// during runs a flood while streams are open and small requests are sent.
func (v *bystander) during(name string, flood func()) {
	over := make(chan struct{})
	var wg sync.WaitGroup
	check := func(e history.Entry) {
		if e.Verdict != history.OK {
			v.t.Errorf("in the flood of %s, a request of another tenant ended with %s, status %d, %s", name, e.Verdict, e.Status, e.Code)
		}
	}
	var mu sync.Mutex
	prompt := func(pieces int) history.Prompt {
		mu.Lock()
		defer mu.Unlock()
		v.n++
		return history.Prompt{ID: fmt.Sprintf("%s-%d", v.as.Mark, v.n), N: pieces, Every: 10 * time.Millisecond}
	}
	for range 3 {
		wg.Go(func() {
			for done := false; !done; {
				check(history.ChatRequest{Prompt: prompt(50), From: v.as, Stream: true}.Send(context.Background(), v.client, v.url))
				select {
				case <-over:
					done = true
				default:
				}
			}
		})
	}
	wg.Go(func() {
		for done := false; !done; {
			e := history.ChatRequest{Prompt: prompt(1), From: v.as}.Send(context.Background(), v.client, v.url)
			check(e)
			if took := e.Ended.Sub(e.Invoked); took > v.worst {
				v.worst, v.when = took, name
			}
			select {
			case <-over:
				done = true
			default:
			}
		}
	})
	flood()
	close(over)
	waittest.Returns(v.t, "the other tenant is served", wg.Wait)
}

// floodBodies sends a body again and again.
func floodBodies(b bodies.Body) func(ctx context.Context, addr string, as history.Tenant) {
	text := sync.OnceValue(func() string { return strings.Replace(b.JSON(largest), `"tiny"`, `"`+sink+`"`, 1) })
	return func(ctx context.Context, addr string, as history.Tenant) {
		body := text()
		var wg sync.WaitGroup
		for range senders {
			wg.Go(func() {
				for ctx.Err() == nil {
					short, cancel := context.WithTimeout(ctx, time.Second)
					r, err := http.NewRequestWithContext(short, http.MethodPost, "http://"+addr+b.Path, strings.NewReader(body))
					if err == nil {
						r.Header.Set("Content-Type", "application/json")
						as.Sign(r)
						if answer, err := http.DefaultClient.Do(r); err == nil {
							_, _ = io.Copy(io.Discard, answer.Body)
							_ = answer.Body.Close()
						}
					}
					cancel()
				}
			})
		}
		wg.Wait()
	}
}

// floodSockets opens as many WebSockets as a tenant may, and more. On each, a small request
// is followed by the largest frame.
func floodSockets(ctx context.Context, addr string, as history.Tenant) {
	frame := []byte(`{"type":"response.create","model":"` + sink + `","input":"` + strings.Repeat("x", largest) + `"}`)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for ctx.Err() == nil {
				c, _, err := websocket.Dial(ctx, "ws://"+addr+"/v1/responses", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + as.Token}}})
				if err != nil {
					continue
				}
				_ = c.Write(ctx, websocket.MessageText, []byte(`{"type":"response.create","model":"`+sink+`","input":"x"}`))
				_ = c.Write(ctx, websocket.MessageText, frame)
				_ = c.Write(ctx, websocket.MessageText, frame)
				<-ctx.Done()
				_ = c.CloseNow()
			}
		})
	}
	wg.Wait()
}

// floodStalled opens connections with large headers, and bodies that never come.
func floodStalled(ctx context.Context, addr string, as history.Tenant) {
	open(ctx, addr, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\nAuthorization: Bearer "+
		as.Token+"\r\nLarge: "+strings.Repeat("x", 15<<10)+"\r\n\r\n{")
}

// floodHeaders opens connections with headers of many lines that never end.
func floodHeaders(ctx context.Context, addr string, _ history.Tenant) {
	var lines strings.Builder
	for i := 0; lines.Len() < 15<<10; i++ {
		fmt.Fprintf(&lines, "%x:\r\n", i)
	}
	open(ctx, addr, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"+lines.String())
}

func open(ctx context.Context, addr, begin string) {
	var all []net.Conn
	defer func() {
		for _, c := range all {
			_ = c.Close()
		}
	}()
	for len(all) < stalled && ctx.Err() == nil {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err != nil {
			continue
		}
		all = append(all, c)
		_, _ = io.WriteString(c, begin)
	}
	<-ctx.Done()
}
