package serving_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/waittest"
)

// A workload runs clients of several tenants that send requests one after another,
// and sometimes try to read data of other tenants.
type workload struct {
	s       *stack
	tenants []tenant
	client  *http.Client
	wg      sync.WaitGroup

	mu      sync.Mutex
	entries []entry
	probes  []probe
	latest  map[string]entry // latest accepted request, by tenant name
}

func newWorkload(s *stack, tenants []tenant) *workload {
	return &workload{
		s: s, tenants: tenants, latest: map[string]entry{},
		client: &http.Client{Timeout: waittest.Patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
}

// start runs n clients until ctx ends. They finish the requests they have sent.
func (w *workload) start(ctx context.Context, n int) {
	for c := range n {
		w.wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				url := w.s.urls[(c+i)%len(w.s.urls)]
				t := w.tenants[c%len(w.tenants)]
				q := chatRequest{
					prompt: prompt{ID: fmt.Sprintf("%s-c%d-%d", t.mark, c, i), N: 4 + i%9, Every: time.Duration(1+i%15) * time.Millisecond},
					from:   t, stream: i%4 != 3, header: map[string]string{},
				}
				if i%3 == 0 {
					q.header["X-Koldun-Conversation"] = fmt.Sprint("talk ", c)
				}
				if i%11 == 10 {
					q.disconnectAfter = 2
				}
				victim, found := w.another(t)
				if found && i%6 == 5 { // sends ids of another tenant
					q.header["X-Koldun-Conversation"] = fmt.Sprint("talk ", (c+1)%n)
					q.header["X-Request-Id"], q.header["Idempotency-Key"], q.header["Last-Event-Id"] = victim.id, victim.id, victim.id
				}
				w.add(q.send(context.Background(), w.client, url))
				if found && i%4 == 0 {
					w.probe(url, t, victim)
				}
			}
		})
	}
}

func (w *workload) add(e entry) {
	w.mu.Lock()
	w.entries = append(w.entries, e)
	if e.status == http.StatusOK {
		w.latest[e.tenant.name] = e
	}
	w.mu.Unlock()
	if e.status == 0 {
		time.Sleep(50 * time.Millisecond) // the gateway does not listen yet
	}
}

// another returns the latest request of another tenant.
func (w *workload) another(t tenant) (entry, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, e := range w.latest {
		if name != t.name {
			return e, true
		}
	}
	return entry{}, false
}

// probe tries to read a request of another tenant and to use its model.
func (w *workload) probe(url string, by tenant, victim entry) {
	of := victim.tenant
	chat := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"x"}]}`, of.model())
	for _, p := range []struct {
		method, path, body string
		mustRefuse         bool
		secret             string
	}{
		{http.MethodGet, "/v1/chat/completions/" + victim.id, "", true, of.mark},
		{http.MethodGet, "/v1/chat/completions/" + victim.id + "/messages", "", true, of.mark},
		{http.MethodDelete, "/v1/chat/completions/" + victim.id, "", true, of.mark},
		{http.MethodGet, "/v1/responses/" + victim.id, "", true, of.mark},
		{http.MethodGet, "/v1/requests/" + victim.id, "", true, of.mark},
		{http.MethodGet, "/v1/models/" + of.model(), "", true, of.mark},
		{http.MethodPost, "/v1/chat/completions", chat, true, of.mark},
		{http.MethodGet, "/v1/models", "", false, of.model()},
	} {
		r := probe{by: by, of: of, what: p.method + " " + p.path, mustRefuse: p.mustRefuse, secret: p.secret}
		r.status, r.received = w.send(by, p.method, url+p.path, p.body)
		w.mu.Lock()
		w.probes = append(w.probes, r)
		w.mu.Unlock()
	}
}

// send returns the status and all bytes of the answer, or 0 if there was none.
func (w *workload) send(by tenant, method, url, body string) (status int, received []byte) {
	req, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil
	}
	by.sign(req)
	resp, err := w.client.Do(req)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = resp.Body.Close() }()
	var all bytes.Buffer
	_ = resp.Header.Write(&all)
	_, _ = io.Copy(&all, resp.Body)
	return resp.StatusCode, all.Bytes()
}

// count returns the number of answered requests.
func (w *workload) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, e := range w.entries {
		if e.verdict == ok {
			n++
		}
	}
	return n
}

// wait waits for the clients, and adds their records to h.
func (w *workload) wait(h *history) {
	w.wg.Wait()
	h.entries = append(h.entries, w.entries...)
	h.probes = append(h.probes, w.probes...)
}
