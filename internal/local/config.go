package local

import (
	"log/slog"
	"path/filepath"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// A Config says what to run and with whom. Fields without a default are
// required.
type Config struct {
	// Claims are the objects to begin with: composites, managed resources,
	// Secrets, ConfigMaps. They have been checked against their schemas.
	Claims []Object
	// Data is where volumes and logs are.
	Data *Data

	Composer Composer
	Managed  Managed
	Observer Observer // default: nobody is told

	// Binary is the absolute path of the program that containers of OwnImage
	// run; it calls process.ExitWithParent first of all.
	Binary   string
	OwnImage string
	// Env are KEY=VALUE for every process. What a container sets wins.
	Env []string

	// Ports maps a Service to the local port that stands for it: "NAME" for
	// its only or first port, "NAME:PORT" for any. 0 takes a free one. Without
	// an entry it is the Service's own port.
	Ports map[string]int

	// FinalReason tells whether a reason of the condition Serving can only be
	// mended by somebody. Default: none is final.
	FinalReason func(reason string) bool

	// Grace is how long a process may take to end, at most. Default 10 s.
	Grace time.Duration
	// Poll is how often a managed resource is looked at that is not ready and
	// changes; others are looked at less, and all of them whenever a Job begins
	// or ends. Default 500 ms.
	Poll time.Duration

	Logger *slog.Logger // default: slog.Default()
}

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Data == nil, c.Composer == nil, c.Managed == nil, c.OwnImage == "":
		return c, fault.Errorf(fault.Internal, "cannot run locally: Data, Composer, Managed and OwnImage are required")
	case !filepath.IsAbs(c.Binary):
		return c, fault.Errorf(fault.Internal, "cannot run %q: not an absolute path", c.Binary)
	}
	if c.Observer == nil {
		c.Observer = ObserverFunc(func(Event) {})
	}
	if c.FinalReason == nil {
		c.FinalReason = func(string) bool { return false }
	}
	if c.Grace <= 0 {
		c.Grace = 10 * time.Second
	}
	if c.Poll <= 0 {
		c.Poll = 500 * time.Millisecond
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c, nil
}
