package natstest

import (
	"fmt"
	"strings"
	"sync"
)

// mostComplaints limits the messages that are kept; later ones are repetitions.
const mostComplaints = 20

// complaints keeps the warnings and errors of a server for failing tests. The
// server only logs that its port is taken or its disk full.
type complaints struct {
	mu    sync.Mutex
	lines []string
}

func (c *complaints) keep(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lines) < mostComplaints {
		c.lines = append(c.lines, fmt.Sprintf(format, args...))
	}
}

// String returns one line per message.
func (c *complaints) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lines) == 0 {
		return "(nothing)"
	}
	return strings.Join(c.lines, "\n")
}

// The methods of the server's Logger interface.

// Fatalf keeps a fatal error.
func (c *complaints) Fatalf(format string, args ...any) { c.keep(format, args...) }

// Errorf keeps an error.
func (c *complaints) Errorf(format string, args ...any) { c.keep(format, args...) }

// Warnf keeps a warning.
func (c *complaints) Warnf(format string, args ...any) { c.keep(format, args...) }

// Noticef drops the message.
func (*complaints) Noticef(string, ...any) {}

// Debugf drops the message.
func (*complaints) Debugf(string, ...any) {}

// Tracef drops the message.
func (*complaints) Tracef(string, ...any) {}
