package gateway

import (
	"net/http"
	"strings"
)

// under serves what a path has below it as if that were at the root, and other paths as they
// are. The empty path has nothing.
func under(base string, h http.Handler) http.Handler {
	base = strings.TrimSuffix(base, "/")
	if base == "" {
		return h
	}
	below := http.StripPrefix(base, h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, base+"/") {
			below.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}
