package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/test/waittest"
)

// To measure only the gateway's side of many open streams, everything else runs in
// another process of this test binary.
const (
	envOthers = "KOLDUN_TEST_OTHERS"
	openCount = 2000
)

// TestOthers is the other process: a NATS server with a model and a runner, and then
// as many clients as the gateway's process requests.
func TestOthers(t *testing.T) {
	if os.Getenv(envOthers) == "" {
		t.Skip("it is started by: go test -run '^$' -bench OpenStreams ./internal/serving/gateway")
	}
	w := &world{t: t, nats: natstest.Start(t)}
	w.natsURL = w.nats.URL()
	w.bus = w.connect()
	if err := w.bus.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.putModel("default", "tiny")
	startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		s.started()
		s.text("hello")
		<-ctx.Done()
	})
	fmt.Println("others", w.natsURL)
	var addr string
	var prompt int
	if _, err := fmt.Scan(&addr, &prompt); err != nil {
		t.Fatal(err)
	}
	bad := 0
	for range openCount {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if err := openStream(c, prompt); err != nil {
			bad++
		}
	}
	fmt.Println("others", bad)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// openStream sends a streaming request and reads the status.
func openStream(c net.Conn, prompt int) error {
	body := strings.Replace(chatBody(streaming), "hello", strings.Repeat("x", prompt), 1)
	request := "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body
	if _, err := io.WriteString(c, request); err != nil {
		return err
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", response.Status)
	}
	return nil
}

// others is the other process.
type others struct {
	input  io.WriteCloser
	output *bufio.Scanner
	cmd    *exec.Cmd
}

func startOthers(b *testing.B) *others {
	b.Helper()
	o := &others{cmd: exec.CommandContext(b.Context(), os.Args[0], "-test.run", "^TestOthers$")}
	o.cmd.Env = append(os.Environ(), envOthers+"=1")
	var err error
	if o.input, err = o.cmd.StdinPipe(); err != nil {
		b.Fatal(err)
	}
	output, err := o.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	o.output = bufio.NewScanner(output)
	if err := o.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return o
}

// nextWord waits for the next word of the other process.
func (o *others) nextWord(b *testing.B) string {
	b.Helper()
	for o.output.Scan() {
		if word, ok := strings.CutPrefix(o.output.Text(), "others "); ok {
			return word
		}
	}
	b.Fatal("the other process has ended")
	return ""
}

func (o *others) end() {
	_ = o.input.Close()
	_ = o.cmd.Wait()
}

// inUse returns the size of the heap and the stacks of this process, without
// garbage.
func inUse() (heap, stack float64) {
	var m runtime.MemStats
	for range 3 { // stacks shrink by half in each
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc), float64(m.StackInuse)
}

// BenchmarkOpenStreams reports the heap and stacks of the gateway, with its side of
// NATS, per stream of 2,000 open streams after their first text. Clients, NATS and
// runner run in another process.
func BenchmarkOpenStreams(b *testing.B) {
	for name, prompt := range map[string]int{"Short": 10, "Prompt64KiB": 64 << 10} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				measureStreams(b, prompt)
			}
		})
	}
}

func measureStreams(b *testing.B, prompt int) {
	o := startOthers(b)
	defer o.end()
	w := &world{t: b, natsURL: o.nextWord(b)}
	w = w.another(func(_ *Config, p *timing) { *p = defaultTiming })
	waittest.Until(b, "the model is known", func() bool { return len(w.gateway.models.All()) > 0 })
	heap, stack := inUse()
	if _, err := fmt.Fprintln(o.input, strings.TrimPrefix(w.url, "http://"), prompt); err != nil {
		b.Fatal(err)
	}
	if bad := o.nextWord(b); bad != "0" {
		b.Fatalf("%s streams were not opened", bad)
	}
	heapThen, stackThen := inUse()
	const each = openCount * 1024
	b.ReportMetric((heapThen-heap)/each, "heap-KiB/stream")
	b.ReportMetric((stackThen-stack)/each, "stack-KiB/stream")
	b.ReportMetric((heapThen-heap+stackThen-stack)/each, "KiB/stream")
}
