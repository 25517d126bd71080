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

	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// A workload runs clients of several tenants that send requests one after another,
// and sometimes try to read data of other tenants.
type workload struct {
	s       *stack
	tenants []history.Tenant
	client  *http.Client
	wg      sync.WaitGroup

	mu      sync.Mutex
	entries []history.Entry
	probes  []history.Probe
	latest  map[string]history.Entry // latest accepted request, by tenant name
}

func newWorkload(s *stack, tenants []history.Tenant) *workload {
	return &workload{
		s: s, tenants: tenants, latest: map[string]history.Entry{},
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
				q := history.ChatRequest{
					Prompt: history.Prompt{ID: fmt.Sprintf("%s-c%d-%d", t.Mark, c, i), N: 4 + i%9, Every: time.Duration(1+i%15) * time.Millisecond},
					From:   t, Stream: i%4 != 3, Header: map[string]string{},
				}
				if i%3 == 0 {
					q.Header["X-Koldun-Conversation"] = fmt.Sprint("talk ", c)
				}
				if i%11 == 10 {
					q.DisconnectAfter = 2
				}
				victim, found := w.another(t)
				if found && i%6 == 5 { // sends ids of another tenant
					q.Header["X-Koldun-Conversation"] = fmt.Sprint("talk ", (c+1)%n)
					q.Header["X-Request-Id"], q.Header["Idempotency-Key"], q.Header["Last-Event-Id"] = victim.ID, victim.ID, victim.ID
				}
				w.add(q.Send(context.Background(), w.client, url))
				if found && i%4 == 0 {
					w.probe(url, t, victim)
				}
			}
		})
	}
}

func (w *workload) add(e history.Entry) {
	w.mu.Lock()
	w.entries = append(w.entries, e)
	if e.Status == http.StatusOK {
		w.latest[e.Tenant.Name] = e
	}
	w.mu.Unlock()
	if e.Status == 0 {
		time.Sleep(50 * time.Millisecond) // the gateway does not listen yet
	}
}

// another returns the latest request of another tenant.
func (w *workload) another(t history.Tenant) (history.Entry, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, e := range w.latest {
		if name != t.Name {
			return e, true
		}
	}
	return history.Entry{}, false
}

// probe tries to read a request of another tenant and to use its model.
func (w *workload) probe(url string, by history.Tenant, victim history.Entry) {
	of := victim.Tenant
	chat := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"x"}]}`, of.Model())
	for _, p := range []struct {
		method, path, body string
		mustRefuse         bool
		secret             string
	}{
		{http.MethodGet, "/v1/chat/completions/" + victim.ID, "", true, of.Mark},
		{http.MethodGet, "/v1/chat/completions/" + victim.ID + "/messages", "", true, of.Mark},
		{http.MethodDelete, "/v1/chat/completions/" + victim.ID, "", true, of.Mark},
		{http.MethodGet, "/v1/responses/" + victim.ID, "", true, of.Mark},
		{http.MethodGet, "/v1/requests/" + victim.ID, "", true, of.Mark},
		{http.MethodGet, "/v1/models/" + of.Model(), "", true, of.Mark},
		{http.MethodPost, "/v1/chat/completions", chat, true, of.Mark},
		{http.MethodGet, "/v1/models", "", false, of.Model()},
	} {
		r := history.Probe{By: by, Of: of, What: p.method + " " + p.path, MustRefuse: p.mustRefuse, Secret: p.secret}
		r.Status, r.Received = w.send(by, p.method, url+p.path, p.body)
		w.mu.Lock()
		w.probes = append(w.probes, r)
		w.mu.Unlock()
	}
}

// send returns the status and all bytes of the answer, or 0 if there was none.
func (w *workload) send(by history.Tenant, method, url, body string) (status int, received []byte) {
	req, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil
	}
	by.Sign(req)
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
		if e.Verdict == history.OK {
			n++
		}
	}
	return n
}

// wait waits for the clients, and adds their records to h.
func (w *workload) wait(h *history.History) {
	w.wg.Wait()
	h.Entries = append(h.Entries, w.entries...)
	h.Probes = append(h.Probes, w.probes...)
}
