package dispatch

import (
	"log/slog"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// Config describes a dispatcher.
type Config struct {
	Bus      *bus.Bus // the caller closes it after Run
	Identity string   // of this process, shown in leases
	Listen   string   // "host:port" of health and metrics; "" for none
	Hosts    []string // of health and metrics, see httpserver.Options

	// MaxAttempts is how often a request is tried before its first token.
	// Default 3.
	MaxAttempts int
	// LeaseTTL is how long a session has no leader after its leader was killed,
	// in whole seconds. Default 3 s.
	LeaseTTL time.Duration
	// AffinityWait is how long a request waits for the runner with its
	// conversation, or for a runner that has not failed it. Default 3 s.
	AffinityWait time.Duration
	// MaxWait limits requests without a deadline. Default 23 h, an hour before
	// the request stream drops them.
	MaxWait time.Duration
	// ServerPatience is how long a request waits for a server that refuses requests
	// for now, such as one that has used up its quota. Default 30 s.
	ServerPatience time.Duration
	// IdleAfter is how long to lead a session without requests and runners.
	// Default 1 min.
	IdleAfter time.Duration
	Logger    *slog.Logger // nil: slog.Default()
}

const (
	defaultAttempts     = 3
	defaultLease        = 3 * time.Second
	defaultAffinityWait = 3 * time.Second
	defaultMaxWait      = names.RequestMaxAge - time.Hour
	defaultPatience     = 30 * time.Second
	defaultIdleAfter    = time.Minute
)

// Check validates the configuration without a bus, as Run does. Errors: Invalid.
func (c *Config) Check() error {
	switch {
	case c.Identity == "":
		return fault.Errorf(fault.Invalid, "cannot dispatch without an identity")
	case c.MaxAttempts < 0:
		return fault.Errorf(fault.Invalid, "cannot try a request %d times: the least is 1", c.MaxAttempts)
	case c.LeaseTTL > 0 && c.LeaseTTL < time.Second:
		return fault.Errorf(fault.Invalid, "cannot dispatch with leases of %s: the least is 1s", c.LeaseTTL)
	}
	return nil
}

func (c *Config) setDefaults() error {
	if c.Bus == nil {
		return fault.Errorf(fault.Internal, "cannot dispatch without a bus")
	}
	if err := c.Check(); err != nil {
		return err
	}
	if c.MaxAttempts == 0 {
		c.MaxAttempts = defaultAttempts
	}
	setDefault(&c.LeaseTTL, defaultLease)
	setDefault(&c.AffinityWait, defaultAffinityWait)
	setDefault(&c.MaxWait, defaultMaxWait)
	setDefault(&c.ServerPatience, defaultPatience)
	setDefault(&c.IdleAfter, defaultIdleAfter)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.Logger = c.Logger.With("dispatcher", c.Identity)
	return nil
}

func setDefault(d *time.Duration, to time.Duration) {
	if *d <= 0 {
		*d = to
	}
}
