package pod

import (
	"regexp"
	"strconv"
	"sync"

	"github.com/gorizond/koldun/internal/fault"
)

// podAddress matches POD.SERVICE.NAMESPACE.svc:PORT.
var podAddress = sync.OnceValue(func() *regexp.Regexp { //nolint:gochecknoglobals // compiled once, never changed
	return regexp.MustCompile(`\b([a-z0-9-]+)\.[a-z0-9-]+\.([a-z0-9-]+)\.svc:(\d+)\b`)
})

// resolveAddresses replaces the addresses of pods in an argument by local ones.
func (p *Plan) resolveAddresses(arg string) (string, error) {
	if p.Address == nil {
		return arg, nil
	}
	var failed error
	out := podAddress().ReplaceAllStringFunc(arg, func(found string) string {
		match := podAddress().FindStringSubmatch(found)
		port, err := strconv.ParseUint(match[3], 10, 16)
		if err != nil {
			failed = fault.Errorf(fault.Invalid, "cannot find %q: %s is no port", found, match[3])
			return found
		}
		local, err := p.Address(match[2], match[1], int(port))
		if err != nil {
			failed = err
		}
		return local
	})
	return out, failed
}
