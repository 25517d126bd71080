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

// checkOrigins refuses origins in a form that browsers do not send. Errors:
// Invalid.
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
	corsMaxAge  = "3600" // seconds that a browser may cache the answer
	// corsHeaders are allowed to a page that names none.
	corsHeaders = "Authorization, Content-Type, X-Api-Key, X-Auth-Token, KOLDUN_API_TOKEN, X-Koldun-Conversation, X-Koldun-Timeout, Traceparent"
)

// corsExposed are the headers that pages may read.
var corsExposed = strings.Join([]string{
	headerRequestID, headerIgnored, headerQueue, headerMember, headerOverhead, "Retry-After", "X-Should-Retry",
	"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests",
	"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens",
}, ", ")

// A corsKind is what a request is in the protocol of CORS.
type corsKind int

const (
	ordinary  corsKind = iota
	preflight          // a question of the browser, answered by headers alone
)

// shareWithOrigin sets the headers that let pages of the allowed origins use the
// API from a browser (https://fetch.spec.whatwg.org/#http-cors-protocol). It
// allows no credentials of the browser: callers send tokens.
func shareWithOrigin(origins []string, h http.Header, r *http.Request) corsKind {
	if len(origins) == 0 {
		return ordinary
	}
	origin := r.Header.Get("Origin")
	h.Add("Vary", "Origin")
	allowed := origin != "" && (slices.Contains(origins, anyOrigin) || slices.Contains(origins, origin))
	if allowed {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", corsExposed)
	}
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return ordinary
	}
	if allowed {
		h.Set("Access-Control-Allow-Methods", corsMethods)
		h.Set("Access-Control-Allow-Headers", allowedHeaders(r.Header.Get("Access-Control-Request-Headers")))
		h.Set("Access-Control-Max-Age", corsMaxAge)
	}
	return preflight
}

// allowedHeaders returns the headers that a page may send: those that it asks
// for, because clients add their own and no header gives rights.
func allowedHeaders(asked string) string {
	const most = 2048
	isName := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == ',' || r == ' '
	}
	if asked == "" || len(asked) > most || strings.ContainsFunc(asked, func(r rune) bool { return !isName(r) }) {
		return corsHeaders
	}
	return asked
}
