package local

import (
	"log/slog"
	"path/filepath"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// A Config holds the claims to run and the parts that run them. Fields without
// a default are required.
type Config struct {
	// Claims are the objects of the claims file: composites, managed resources,
	// Secrets and ConfigMaps, validated by their schemas.
	Claims []Object
	// Data is the folder for volumes and logs.
	Data *Data

	Composer Composer
	Managed  Managed
	Observer Observer // default: none

	// Binary is the absolute path of the program of containers with OwnImage. It
	// must call process.ExitWithParent first.
	Binary   string
	OwnImage string
	// Program returns why this machine cannot run a program of another image that
	// Koldun supervises, or nil; the programs are on PATH of Env. Default: it runs
	// none.
	Program func(name string) error
	// Servers are the programs of servers that pods may run by their names, on PATH of
	// Env, and why this machine cannot run them, or nil. Default: it runs none.
	Servers map[string]error
	// Exec are the arguments with which Binary runs a program of another project, named
	// by the next arguments, so that it ends with this process. Default: such programs
	// outlive this process if it is killed.
	Exec []string
	// Memory is what all pods together may take, in bytes. Default: any amount.
	Memory int64
	// Env are KEY=VALUE for every process. Variables of containers override them.
	Env []string

	// Login gives each process its own credentials for NATS (pod.Place). Default:
	// processes have those of their Secrets.
	Login func(args []string, vars map[string]string) (credentials []byte, err error)

	// Ports maps Services to local ports: "NAME" is a Service's only or first
	// port, "NAME:PORT" any of them. 0 takes a free port. The default is the
	// Service's own port.
	Ports map[string]int

	// FinalReason reports whether waiting cannot resolve a reason of the condition
	// Serving. Default: no reason is final.
	FinalReason func(reason string) bool

	// Grace limits the time for a process to exit. Default 10 s.
	Grace time.Duration
	// Poll is the poll interval of managed resources that are not ready and
	// change. Others are polled less often, and all of them when a Job starts or
	// ends. Default 500 ms.
	Poll time.Duration
	// Tries is how many polls of a managed resource in a row may fail before it counts
	// as failed, if its server cannot be reached or refuses the credentials. It is
	// polled further. Default: no limit.
	Tries int
	// WatchAgain is the time until a watch that failed is started again. Default 5 s.
	WatchAgain time.Duration

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
	if c.WatchAgain <= 0 {
		c.WatchAgain = 5 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c, nil
}
