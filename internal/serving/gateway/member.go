package gateway

import (
	"net/http"
	"strings"

	"github.com/gorizond/koldun/internal/names"
)

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
