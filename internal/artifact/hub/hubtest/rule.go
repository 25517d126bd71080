package hubtest

import (
	"net/http"
	"strings"
)

// A Rule is one fault and the requests that it applies to.
type Rule struct {
	// Path is a part of the request's path; empty matches all.
	Path string
	// Range is the value of the Range header; empty matches all.
	Range string
	// Hub and CDN choose the server; neither means both.
	Hub, CDN bool
	// Skip is the number of matching requests that pass first, Times the number
	// that fail after them; 0 means all.
	Skip, Times int
	// Do answers a failing request. next is the server without faults.
	Do Fault

	seen int
}

// A Fault answers a request in place of the server.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Break adds a rule. Of several that match, the first applies.
func (h *Hub) Break(r Rule) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rules = append(h.rules, &r)
}

// Mend drops all rules.
func (h *Hub) Mend() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rules = nil
}

func (r *Rule) do(w http.ResponseWriter, req *http.Request, next http.Handler) { r.Do(w, req, next) }

// take returns the rule for a request and counts the request.
func (h *Hub) take(cdn bool, req *http.Request) *Rule {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.rules {
		fits := (!r.Hub && !r.CDN || r.CDN && cdn || r.Hub && !cdn) &&
			strings.Contains(req.URL.Path, r.Path) &&
			(r.Range == "" || r.Range == req.Header.Get("Range"))
		if !fits {
			continue
		}
		r.seen++
		if r.seen > r.Skip && (r.Times == 0 || r.seen <= r.Skip+r.Times) {
			return r
		}
	}
	return nil
}
