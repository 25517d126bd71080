package natstest

import (
	"fmt"
	"strings"
	"sync"
)

// mostComplaints bounds what is kept: the first say why, the rest repeat it.
const mostComplaints = 20

// complaints keep what a server says of its troubles, for a test that fails:
// it only logs that its port is taken, or its folder full.
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

// String is one line for each.
func (c *complaints) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lines) == 0 {
		return "(nothing)"
	}
	return strings.Join(c.lines, "\n")
}

// The methods of the server's Logger interface.

// Fatalf keeps why the server ends.
func (c *complaints) Fatalf(format string, args ...any) { c.keep(format, args...) }

// Errorf keeps an error.
func (c *complaints) Errorf(format string, args ...any) { c.keep(format, args...) }

// Warnf keeps a warning.
func (c *complaints) Warnf(format string, args ...any) { c.keep(format, args...) }

// Noticef drops what is no trouble.
func (*complaints) Noticef(string, ...any) {}

// Debugf drops what is no trouble.
func (*complaints) Debugf(string, ...any) {}

// Tracef drops what is no trouble.
func (*complaints) Tracef(string, ...any) {}
