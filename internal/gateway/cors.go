package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// anyOrigin allows the pages of every site.
const anyOrigin = "*"

// checkOrigins makes sure that origins are what browsers send.
func checkOrigins(origins []string) error {
	for _, o := range origins {
		if o == anyOrigin {
			continue
		}
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != o || strings.ContainsAny(o, "*, ") {
			return fault.Errorf(fault.Invalid, "cannot allow origin %q: write it as browsers do, https://host or https://host:port, or * for all", o)
		}
	}
	return nil
}

const (
	corsMethods = "GET, HEAD, POST"
	corsMaxAge  = "3600" // seconds for which a browser need not ask again
	// corsHeaders are allowed to a page that asks for none in particular.
	corsHeaders = "Authorization, Content-Type, X-Api-Key, X-Koldun-Conversation, Traceparent"
)

// corsExposed are the headers that pages may read.
var corsExposed = strings.Join([]string{
	headerRequestID, headerIgnored, headerQueue, headerOverhead, "Retry-After", "X-Should-Retry",
	"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests",
	"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens",
}, ", ")

// shared lets pages of the allowed origins use the API from a browser
// (https://fetch.spec.whatwg.org/#http-cors-protocol). Credentials of the
// browser are never asked for: callers show tokens.
func (g *Gateway) shared(next http.Handler) http.Handler {
	if len(g.cfg.Origins) == 0 {
		return next
	}
	all := slices.Contains(g.cfg.Origins, anyOrigin)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, origin := w.Header(), r.Header.Get("Origin")
		h.Add("Vary", "Origin")
		allowed := origin != "" && (all || slices.Contains(g.cfg.Origins, origin))
		if allowed {
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", corsExposed)
		}
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			next.ServeHTTP(w, r)
			return
		}
		callOf(r).endpoint = "preflight"
		if allowed {
			h.Set("Access-Control-Allow-Methods", corsMethods)
			h.Set("Access-Control-Allow-Headers", asked(r.Header.Get("Access-Control-Request-Headers")))
			h.Set("Access-Control-Max-Age", corsMaxAge)
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// asked are the headers that a page may send: whatever it asks for, because
// clients add their own and none of them gives rights.
func asked(headers string) string {
	const most = 2048
	isName := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == ',' || r == ' '
	}
	if headers == "" || len(headers) > most || strings.ContainsFunc(headers, func(r rune) bool { return !isName(r) }) {
		return corsHeaders
	}
	return headers
}
