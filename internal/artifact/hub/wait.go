package hub

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// toldWait returns the pause that a server asks for in Retry-After (seconds or a
// date, RFC 9110 section 10.2.3) or RateLimit (draft-ietf-httpapi-ratelimit-headers:
// r is the remaining quota, t the seconds until it is renewed). Without a 429,
// RateLimit counts only when no quota remains.
func toldWait(h http.Header, limited bool, now time.Time) time.Duration {
	if v := h.Get("Retry-After"); v != "" {
		if d, ok := retryAfter(v, now); ok {
			return d
		}
	}
	remaining, reset, ok := rateLimit(h.Get("RateLimit"))
	if ok && (limited || remaining == 0) {
		return reset
	}
	return 0
}

// longest is the longest pause, so that it fits a Duration.
const longest = 365 * 24 * time.Hour

func retryAfter(v string, now time.Time) (time.Duration, bool) {
	if at, err := http.ParseTime(v); err == nil {
		return min(max(0, at.Sub(now)), longest), true
	}
	return seconds(strings.TrimSpace(v))
}

// seconds parses a number of seconds that is not negative.
func seconds(v string) (time.Duration, bool) {
	s, err := strconv.ParseFloat(v, 64)
	if err != nil || !(s >= 0) {
		return 0, false
	}
	if s > longest.Seconds() {
		return longest, true
	}
	return time.Duration(s * float64(time.Second)), true
}

// rateLimit parses `"api";r=0;t=55`.
func rateLimit(v string) (remaining int64, reset time.Duration, ok bool) {
	var haveR, haveT bool
	for field := range strings.SplitSeq(v, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch key {
		case "r":
			n, err := strconv.ParseInt(value, 10, 64)
			remaining, haveR = n, err == nil && n >= 0
		case "t":
			reset, haveT = seconds(value)
		}
	}
	return remaining, reset, haveR && haveT
}

// gates delays all requests to a host that asked one of them for a pause.
type gates struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (g *gates) shut(host string, until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until.After(g.until[host]) {
		g.until[host] = until
	}
}

// wait returns the pause before a request to the host.
func (g *gates) wait(host string, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	until, ok := g.until[host]
	if !ok {
		return 0
	}
	if !until.After(now) {
		delete(g.until, host)
		return 0
	}
	return until.Sub(now)
}
