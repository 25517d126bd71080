package hubtest

import (
	"net/http"
	"strings"
)

// A Rule is one fault and where it strikes.
type Rule struct {
	// Path is what the request's path must contain; empty fits all.
	Path string
	// Range is what its Range header must be; empty fits all.
	Range string
	// Hub and CDN say which server; neither means both.
	Hub, CDN bool
	// Skip is how many fitting requests pass first, Times how many are struck;
	// 0 means all that follow.
	Skip, Times int
	// Do answers a struck request. next is the server without faults.
	Do Fault

	seen int
}

// A Fault answers a request in place of the server.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Break adds a rule. Of several that fit, the first strikes.
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

// take finds the rule for a request and counts it.
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
