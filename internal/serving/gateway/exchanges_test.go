package gateway

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

// divider separates a request from its answer in testdata/exchanges.
const divider = "\n==== answer ====\n"

// volatile matches values that differ between runs.
var volatile = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile(`[0-9A-HJKMNP-TV-Z]{26}`), "ID"},
	{regexp.MustCompile(`"created":17673\d+`), `"created":MODEL`},
	{regexp.MustCompile(`"created":\d+`), `"created":NOW`},
	{regexp.MustCompile(`(X-Koldun-(?:Queue|Overhead)-Ms): [0-9.]+`), "$1: N"},
	{regexp.MustCompile(`Date: [^\r\n]+`), "Date: NOW"},
}

// TestExchanges sends recorded requests and compares every byte of the answers with
// the recorded ones. UPDATE=1 records the answers again.
func TestExchanges(t *testing.T) {
	w := newWorld(t, func(_ *Config, p *timing) { p.quiet, p.keepAlive = time.Hour, time.Hour })
	startRunner(t, w.bus, tinySession, func(_ context.Context, s *responder) {
		if s.chat.Messages[0].Content == "long" {
			s.started()
			s.fail(queue.CodeContextLength, "The context holds 128 tokens, and the messages have 200.")
			return
		}
		s.started()
		switch s.chat.Messages[0].Content {
		case "think":
			s.text("<think>")
			s.text("\nHm.\n")
			s.text("</think>\n\n")
			s.text("Done")
		case "break":
			s.text("He")
			s.fail(queue.CodeInterrupted, "runner 3 is gone")
			return
		default:
			s.text("Hello")
			s.text(" \"there\"\n")
		}
		s.end(openai.FinishStop, 9, 2)
	})
	w.putEngine("r1", "seed", "temperature", "top_p")
	files, err := filepath.Glob("testdata/exchanges/*.http")
	if err != nil || len(files) == 0 {
		t.Fatal("no exchanges", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".http"), func(t *testing.T) {
			recorded, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			request, want, _ := strings.Cut(string(recorded), divider)
			got := exchange(t, w.url, request)
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(file, []byte(strings.TrimRight(request, "\n")+"\n"+divider+got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("answer differs from the recorded one; UPDATE=1 records it again: %s", d)
			}
		})
	}
}

// exchange sends a request with its length, and returns the answer without volatile
// values.
func exchange(t *testing.T, url, request string) string {
	t.Helper()
	head, body, _ := strings.Cut(strings.TrimRight(request, "\n"), "\n\n")
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(waittest.Patience)); err != nil {
		t.Fatal(err)
	}
	wire := strings.ReplaceAll(head, "\n", "\r\n") + "\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	if _, err := io.WriteString(c, wire); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	response.TransferEncoding = nil // chunks are not compared
	answer, err := httputil.DumpResponse(response, false)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := string(bytes.ReplaceAll(append(answer, b...), []byte("\r\n"), []byte("\n")))
	for _, v := range volatile {
		out = v.find.ReplaceAllString(out, v.put)
	}
	return out
}
