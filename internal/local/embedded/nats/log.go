package nats

import (
	"fmt"
	"strings"
	"sync"

	"github.com/gorizond/koldun/internal/fault"
)

// firstError is a server logger that keeps only the first error, which explains
// why the server cannot start.
type firstError struct {
	mu  sync.Mutex
	msg string
}

func (f *firstError) get() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.msg
}

func (f *firstError) keep(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.msg == "" {
		f.msg = fmt.Sprintf(format, args...)
	}
}

// The methods of the server's Logger interface.

func (f *firstError) Fatalf(format string, args ...any) { f.keep(format, args...) }
func (f *firstError) Errorf(format string, args ...any) { f.keep(format, args...) }
func (*firstError) Noticef(string, ...any)              {}
func (*firstError) Warnf(string, ...any)                {}
func (*firstError) Debugf(string, ...any)               {}
func (*firstError) Tracef(string, ...any)               {}

// kindOf returns the kind of an error that the server reports only as text.
func kindOf(msg string) fault.Kind {
	switch low := strings.ToLower(msg); {
	case strings.Contains(low, "no space left"), strings.Contains(low, "insufficient storage"):
		return fault.Quota
	case strings.Contains(low, "permission denied"), strings.Contains(low, "not writable"):
		return fault.Denied
	case strings.Contains(low, "address already in use"):
		return fault.Conflict
	case strings.Contains(low, "corrupt"), strings.Contains(low, "checksum"):
		return fault.Corrupt
	}
	return fault.Internal
}
