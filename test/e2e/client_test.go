package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/test/waittest"
)

const (
	question = `{"model":"koldun-tiny","stream":true,"messages":[{"role":"user","content":"What is Koldun?"}]}`
	answer   = "Koldun turns a short YAML claim into a running, OpenAI-compatible language model service on distributed-llama."
	// answered is the time limit of an answer, including kills: a new provider leads
	// half a minute after the end of the previous one.
	answered = 5 * time.Minute
	// dying is the time limit for a killed gateway to end and to restart. The other
	// one may be killed in the same time.
	dying = time.Minute
	// tryAgain is the pause of a client after its connection broke.
	tryAgain = 100 * time.Millisecond
)

// errBroken is the error for a connection that ended before the answer.
var errBroken = errors.New("the connection broke") //nolint:gochecknoglobals // a sentinel

// newRequest returns a request with the question for a gateway.
func newRequest(ctx context.Context, url string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", strings.NewReader(question))
	if err == nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, err
}

// ask sends a streaming request and checks the answer. It calls first at the first
// text.
func ask(ctx context.Context, client *http.Client, url string, first func()) error {
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(answered))
	defer cancel()
	req, err := newRequest(ctx, url)
	if err != nil {
		return err
	}
	rsp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	defer func() { _ = rsp.Body.Close() }()
	if rsp.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(rsp.Body)
		return fmt.Errorf("the status is %s: %s", rsp.Status, raw)
	}
	text := ""
	for lines := bufio.NewReader(rsp.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Errorf("%w after %q: %w", errBroken, text, err)
		}
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		switch {
		case !ok:
			continue
		case data == openai.Done && text != answer:
			return fmt.Errorf("the answer is %q", text)
		case data == openai.Done:
			return nil
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
			Error   *struct{ Code, Message string }
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return fmt.Errorf("cannot read %q: %w", data, err)
		}
		if chunk.Error != nil {
			return fmt.Errorf("the answer ends with the error %s: %s", chunk.Error.Code, chunk.Error.Message)
		}
		for _, c := range chunk.Choices {
			if text == "" && c.Delta.Content != "" && first != nil {
				first()
			}
			text += c.Delta.Content
		}
	}
}

// callers are clients that send requests in a loop. A connection may break only if a
// gateway was killed during it.
type callers struct {
	over     atomic.Bool
	answered atomic.Int64
	broken   atomic.Int64
	all      sync.WaitGroup

	mu    sync.Mutex
	kills []time.Time // times of kills of gateways
}

// call starts clients, each of which pauses between its requests.
func (s *serving) call(t *testing.T, sides int, pause time.Duration) *callers {
	c := &callers{}
	for range sides {
		c.all.Go(func() {
			for !c.over.Load() && t.Context().Err() == nil {
				began := time.Now()
				err := ask(t.Context(), s.processes.node.HTTP(), s.url, nil)
				switch {
				case err == nil:
					c.answered.Add(1)
					sleep(t, pause)
				case errors.Is(err, errBroken) && c.killed(began):
					c.broken.Add(1)
					sleep(t, tryAgain)
				default:
					t.Errorf("after %s: %v", time.Since(began).Round(time.Millisecond), err)
					return
				}
			}
		})
	}
	return c
}

// killed reports whether a gateway was killed since then, or had not restarted yet.
func (c *callers) killed(since time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.kills) > 0 && c.kills[len(c.kills)-1].Add(waittest.Limit(dying)).After(since)
}

// kill kills a gateway with f, and records the time before any caller can check it.
func (c *callers) kill(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	c.kills = append(c.kills, time.Now())
}

// more waits for n more answers.
func (c *callers) more(ctx context.Context, n int64) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit, want := time.After(waittest.Limit(answered)), c.answered.Load()+n; c.answered.Load() < want; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-limit:
			return fmt.Errorf("%d answers are missing", want-c.answered.Load())
		}
	}
	return nil
}

// stop stops the callers and waits for their last answers.
func (c *callers) stop() {
	c.over.Store(true)
	c.all.Wait()
}
