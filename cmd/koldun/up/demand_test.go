package up_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/test/waittest"
)

// onDemand is an Ingress whose pools scale with demand.
const onDemand = `
apiVersion: koldun.gorizond.io/v1
kind: Model
metadata: {name: koldun-tiny}
spec:
  sourceUrl: https://huggingface.co/gorizond/koldun-tiny
  conversion: {weightsFloatType: q40}
---
apiVersion: koldun.gorizond.io/v1
kind: Ingress
metadata: {name: public}
spec:
  backend:
    replicas: 1
    conversationTTL: 4s
    sessionScaling: {minDllamas: 1, maxDllamas: 3, scaleUpBacklog: 1, scaleDownIdleSeconds: 2}
---
apiVersion: v1
kind: Secret
metadata: {name: bob, labels: {koldun.gorizond.io/token: "yes"}}
stringData: {token: bob-has-a-long-token}
`

const aliceToken = `
---
apiVersion: v1
kind: Secret
metadata: {name: alice, labels: {koldun.gorizond.io/token: "true"}}
stringData: {token: alice-has-a-long-token}
`

// A demandWorld is koldun up with claims that a test can change.
type demandHarness struct {
	t   *testing.T
	p   *programtest.Process
	url string
	dir string
}

func newDemandHarness(t *testing.T) *demandHarness {
	t.Helper()
	w := &demandHarness{t: t, dir: t.TempDir()}
	w.claim(onDemand + aliceToken)
	w.p = programtest.Start(t, "up", "-f", filepath.Join(w.dir, "claims.yaml"), "--hub-dir", models, "--data", filepath.Join(w.dir, "data"), "--port", "public-gateway=0")
	w.url = w.p.Expect(t, `listens on (http://\S+)`)[1]
	w.p.Expect(t, `Press Ctrl-C to stop`)
	return w
}

func (w *demandHarness) claim(text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "claims.yaml"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// ask sends a request and returns the status of the answer.
func (w *demandHarness) ask(ctx context.Context, token string) (int, error) {
	body := `{"model":"koldun-tiny","messages":[{"role":"user","content":"What is Koldun?"}]}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/v1/chat/completions", bytes.NewBufferString(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rsp.Body.Close() }()
	return rsp.StatusCode, nil
}

func (w *demandHarness) wants(token string, status int) {
	w.t.Helper()
	if got, err := w.ask(waittest.Context(w.t), token); err != nil || got != status {
		w.t.Fatalf("got status %d, %v, want %d", got, err, status)
	}
}

// runners counts the processes that drive an engine.
func (w *demandHarness) runners() (n int) {
	w.t.Helper()
	for _, line := range descendants(w.t, w.p.PID()) {
		if strings.Contains(line, " llm ") {
			n++
		}
	}
	return n
}

func (w *demandHarness) eventually(what string, ok func() bool) {
	w.t.Helper()
	waittest.Until(w.t, what, ok)
}

// load sends requests from several concurrent clients until stop is called, which
// returns the number of answers. Every request must be answered.
func (w *demandHarness) load(sides int) (stop func() int) {
	var over atomic.Bool
	var answered atomic.Int64
	var asking sync.WaitGroup
	for range sides {
		asking.Go(func() {
			for !over.Load() {
				ctx, cancel := context.WithTimeout(context.Background(), waittest.Patience)
				status, err := w.ask(ctx, "bob-has-a-long-token")
				cancel()
				if err != nil || status != http.StatusOK {
					w.t.Errorf("request %d: status %d, %v", answered.Load(), status, err)
					return
				}
				answered.Add(1)
			}
		})
	}
	return func() int {
		over.Store(true)
		asking.Wait()
		return int(answered.Load())
	}
}

// A model without requests has no processes. One request starts a runner, many start
// more, few stop some, none stops all; and no request is lost.
func TestUpFollowsDemand(t *testing.T) {
	t.Parallel()
	w := newDemandHarness(t)
	if n := w.runners(); n != 0 {
		t.Errorf("%d runners without a request", n)
	}
	began := time.Now()
	w.wants("alice-has-a-long-token", http.StatusOK)
	t.Logf("the first answer of a cold model took %v", time.Since(began))
	stop := w.load(1) // keeps the runner until it is counted
	w.eventually("one runner", func() bool { return w.runners() == 1 })
	stop()

	stop = w.load(12)
	w.eventually("a full pool", func() bool { return w.runners() == 3 })
	t.Logf("%d requests were answered while the pool grew", stop())
	stop = w.load(1)
	w.eventually("one runner for a single client", func() bool { return w.runners() == 1 })
	t.Logf("%d requests were answered while the pool shrank", stop())
	w.eventually("no runner without demand", func() bool { return w.runners() == 0 })

	w.wants("alice-has-a-long-token", http.StatusOK)
	w.p.Interrupt(t)
	if code := w.p.Exit(t); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

func TestUpRevokesTokensAndReadsClaimsAgain(t *testing.T) {
	w := newDemandHarness(t)
	w.wants("not-a-token-of-anyone", http.StatusUnauthorized)
	w.wants("alice-has-a-long-token", http.StatusOK)
	hangup := func() {
		t.Helper()
		w.p.Signal(t, syscall.SIGHUP)
	}
	w.claim("kind: Nonsense")
	hangup()
	w.p.Expect(t, `Cannot reload claims, the old ones stay in effect: `)
	w.wants("alice-has-a-long-token", http.StatusOK)

	w.claim(onDemand)
	began := time.Now()
	hangup()
	w.eventually("the end of alice's token", func() bool {
		status, err := w.ask(waittest.Context(t), "alice-has-a-long-token")
		return err == nil && status == http.StatusUnauthorized
	})
	t.Logf("a token whose Secret is gone was refused after %v", time.Since(began))
	w.p.Expect(t, `Reloaded claims`)
	w.wants("bob-has-a-long-token", http.StatusOK)

	// After a change of its arguments a new gateway takes over without a gap.
	gateways := func() (pids []int) {
		for pid, line := range descendants(t, w.p.PID()) {
			if strings.Contains(line, " gateway ") {
				pids = append(pids, pid)
			}
		}
		return pids
	}
	old := gateways()
	if len(old) != 1 {
		t.Fatalf("%d gateways, want 1", len(old))
	}
	stop := w.load(2)
	w.claim(strings.ReplaceAll(onDemand, "conversationTTL: 4s", "conversationTTL: 5s"))
	hangup()
	w.eventually("another gateway alone", func() bool {
		now := gateways()
		return len(now) == 1 && now[0] != old[0]
	})
	if n := stop(); n == 0 {
		t.Error(fmt.Errorf("no request was answered during the replacement of the gateway"))
	}
}

// koldun up uses a token for a claim that requires one, and does not print it.
func TestUpAsksWithAToken(t *testing.T) {
	t.Parallel()
	for name, secret := range map[string]string{"Token": aliceToken, "NoToken": ""} {
		t.Run(name, func(t *testing.T) {
			claim := edited(t, `allowAnonymous: true`, "allowAnonymous: false")
			rewrite(t, claim, "      port: 8082\n", "      port: 8082\n"+secret)
			p := programtest.Start(t, "up", "--once", "-f", claim, "--hub-dir", models, "--data", t.TempDir(), "--port", "koldun-tiny-gateway=0")
			if code := p.Exit(t); code != 0 {
				t.Fatalf("exit status %d", code)
			}
			want := answer
			if secret == "" {
				want = "It requires an API token"
			}
			if !strings.Contains(p.Text(), want) || strings.Contains(p.Text(), "alice-has-a-long-token") {
				t.Errorf("the output lacks %q, or shows the token", want)
			}
		})
	}
}
