package limits

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gorizond/koldun/internal/serving/registry"
)

// An Allowance is what is left of the limits of a tenant in this minute.
type Allowance struct {
	requests, tokens quota
}

// A quota is one limit per minute; 0 is no limit.
type quota struct {
	limit, used int64
	reset       time.Duration // until all of it is free again
}

func newAllowance(l registry.Limits, t *totals, now time.Time) *Allowance {
	return &Allowance{
		requests: quota{limit: int64(l.RequestsPerMinute), used: t.requests.total, reset: t.requests.below(1, now)},
		tokens:   quota{limit: l.TokensPerMinute, used: t.tokens.total, reset: t.tokens.below(1, now)},
	}
}

// use counts admitted requests, each with its prompt.
func (a *Allowance) use(n, prompt int64) {
	a.requests.used += n
	a.tokens.used += n * prompt
	a.requests.reset, a.tokens.reset = time.Minute, time.Minute
}

// SetHeaders sets the headers that OpenAI's clients know.
func (a *Allowance) SetHeaders(h http.Header) {
	if a == nil {
		return
	}
	a.requests.setHeaders(h, "Requests")
	a.tokens.setHeaders(h, "Tokens")
}

func (q quota) setHeaders(h http.Header, unit string) {
	if q.limit <= 0 {
		return
	}
	h.Set("X-Ratelimit-Limit-"+unit, strconv.FormatInt(q.limit, 10))
	h.Set("X-Ratelimit-Remaining-"+unit, strconv.FormatInt(max(q.limit-q.used, 0), 10))
	h.Set("X-Ratelimit-Reset-"+unit, max(q.reset, 0).Round(time.Second).String())
}
