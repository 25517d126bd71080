package gateway

import (
	"net/http"
	"strings"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
)

// The project's own headers.
const (
	headerRequestID    = "X-Request-Id"
	headerIgnored      = "X-Koldun-Ignored"      // parameters without effect
	headerQueue        = "X-Koldun-Queue-Ms"     // until the engine started
	headerMember       = "X-Koldun-Member"       // Dllama or Session that answers
	headerOverhead     = "X-Koldun-Overhead-Ms"  // until the request was stored
	headerConversation = "X-Koldun-Conversation" // from the client: turns with the same value belong together
	headerTimeout      = "X-Koldun-Timeout"      // from the client: how long the request may take
)

// setIgnored lists the parameters that the answer does not honour in a header: at
// first as forecast, and as the engine reports them when it is known.
func setIgnored(h http.Header, ignored []string) {
	if list := ignoredHeader(ignored); list != "" {
		h.Set(headerIgnored, list)
		return
	}
	h.Del(headerIgnored)
}

// ignoredHeader lists names in a header. It leaves out those that do not look
// like parameters, and those that would be too many.
func ignoredHeader(ignored []string) string {
	const most = 32
	var out []string
	for _, name := range ignored {
		if openai.IsParameter(name) && len(out) < most {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

// setMember names, in a header, the Dllama or Session that answers. It drops what
// cannot be the name of one.
func setMember(h http.Header, name string) {
	if isObjectName(strings.TrimPrefix(name, names.SessionGroup(""))) {
		h.Set(headerMember, name)
	}
}

// isObjectName reports whether a name consists of what names of Kubernetes objects do.
func isObjectName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' {
			return false
		}
	}
	return true
}
