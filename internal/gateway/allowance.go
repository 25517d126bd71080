package gateway

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gorizond/koldun/internal/registry"
)

// An allowance is what a tenant may still use in this minute.
type allowance struct {
	requests, tokens quota
}

// A quota is one limit per minute; limit 0 is none.
type quota struct {
	limit, used int64
	reset       time.Duration // until all of it is free again
}

func newAllowance(l registry.Limits, t *totals, now time.Time) *allowance {
	return &allowance{
		requests: quota{limit: int64(l.RequestsPerMinute), used: t.requests.total, reset: t.requests.below(1, now)},
		tokens:   quota{limit: l.TokensPerMinute, used: t.tokens.total, reset: t.tokens.below(1, now)},
	}
}

// use counts the request that was let in.
func (a *allowance) use(prompt int64) {
	a.requests.used++
	a.tokens.used += prompt
	a.requests.reset, a.tokens.reset = time.Minute, time.Minute
}

// tell writes the headers that OpenAI's clients know.
func (a *allowance) tell(h http.Header) {
	if a == nil {
		return
	}
	a.requests.tell(h, "Requests")
	a.tokens.tell(h, "Tokens")
}

func (q quota) tell(h http.Header, what string) {
	if q.limit <= 0 {
		return
	}
	h.Set("X-Ratelimit-Limit-"+what, strconv.FormatInt(q.limit, 10))
	h.Set("X-Ratelimit-Remaining-"+what, strconv.FormatInt(max(q.limit-q.used, 0), 10))
	h.Set("X-Ratelimit-Reset-"+what, max(q.reset, 0).Round(time.Second).String())
}
