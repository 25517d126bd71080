package gateway

import (
	"net/http"
	"strings"
)

// setIgnored lists the parameters that the answer does not honour in a header: at
// first as forecast, and as the engine reports them when it is known.
func setIgnored(h http.Header, ignored []string) {
	if names := ignoredHeader(ignored); names != "" {
		h.Set(headerIgnored, names)
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
		if isParameter(name) && len(out) < most {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

func isParameter(name string) bool {
	if name == "" || len(name) > 40 {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	})
}
