package supervise

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/network/httpserver"
)

const (
	// untilKill is the time between SIGTERM and SIGKILL.
	untilKill = 5 * time.Second
	// drainEvery is the interval of checks whether a session has ended.
	drainEvery = 100 * time.Millisecond
)

// Config of Run.
type Config struct {
	// Command to supervise, the program first. Required.
	Command []string
	// Engine describes the processes of the engine that the command runs.
	// Required.
	Engine *engine.Process
	// WaitFor are HOST:PORT of other supervisors. Each start of the command waits
	// until all of their workers listen.
	WaitFor []string
	// HealthListen is HOST:PORT of /healthz, /readyz and /metrics; empty is none.
	HealthListen string
	// KeyFile is where Run writes a new key, which POST /restart asks for; empty: it
	// refuses all.
	KeyFile string
	// Grace is the time for a session to end after the context has ended; 0 is
	// the default of the role: 110 s for a root, 140 s for a worker.
	Grace time.Duration
	// Init means that this process is process 1 or a subreaper, and must reap
	// orphans.
	Init bool
	// Output gets the lines of the command. Required.
	Output io.Writer
	// Logger logs starts and exits; nil means slog.Default().
	Logger *slog.Logger
	// Health, if not nil, is called with the address of the health server.
	Health func(addr string)
}

// A supervisor is the state of Run.
type supervisor struct {
	Config
	role   engine.Role
	log    *slog.Logger
	out    *output
	births sync.Mutex // held while a process is created or orphans are reaped
	// restart receives the reasons of requests to restart the process.
	restart chan string
	key     string          // of KeyFile
	ending  <-chan struct{} // closed when health is served no more

	mu    sync.Mutex
	pid   int  // of the process, or 0
	late  bool // whether its output arrives in blocks
	again int  // number of restarts
	tries backoff
}

// Run starts the command, restarts it whenever it exits, and blocks until ctx ends,
// the first start is impossible, or the processor cannot run the program. When ctx
// ends, the process continues until its session ends, for at most the grace period;
// then it gets SIGTERM, and SIGKILL 5 s later. Run then returns nil. When it
// returns, no process of the command's group is left.
func Run(ctx context.Context, c Config) error {
	s, err := newSupervisor(c)
	if err != nil {
		return err
	}
	// Health and reaping outlive ctx, because draining needs them.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer end()
	s.ending = life.Done()
	if err := s.serveHealth(life, &helpers); err != nil {
		return err
	}
	if s.Init {
		helpers.Go(func() { s.reapOrphans(life) })
	}
	return s.run(ctx)
}

func newSupervisor(c Config) (*supervisor, error) {
	if len(c.Command) == 0 {
		return nil, fault.Errorf(fault.Invalid, "cannot supervise: no command is given")
	}
	if c.Engine == nil {
		return nil, fault.Errorf(fault.Internal, "cannot supervise program %q: its engine is not described", c.Command[0])
	}
	if c.Grace < 0 {
		return nil, fault.Errorf(fault.Invalid, "cannot supervise with a grace of %s: it must not be negative", c.Grace)
	}
	for _, addr := range c.WaitFor {
		if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "" {
			return nil, fault.Errorf(fault.Invalid, "cannot wait for supervisor %q: it is not of the form HOST:PORT", addr)
		}
	}
	path, err := exec.LookPath(c.Command[0])
	if err != nil {
		return nil, kind(err, fault.Errorf(fault.NotFound, "cannot supervise program %q: %w: %s", c.Command[0], errors.Unwrap(err), c.Engine.Needs))
	}
	s := &supervisor{Config: c, role: c.Engine.Role(c.Command), log: c.Logger, restart: make(chan string)}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.Grace == 0 {
		s.Grace = engine.RootGrace - engine.ExitTime
		if s.role == engine.RoleWorker {
			s.Grace = engine.WorkerGrace - engine.ExitTime
		}
	}
	s.Command = append([]string{path}, c.Command[1:]...)
	s.out = newOutput(c.Engine, s.role, c.Output)
	return s, nil
}

func (s *supervisor) serveHealth(ctx context.Context, helpers *sync.WaitGroup) error {
	if s.HealthListen == "" {
		return nil
	}
	l, err := httpserver.Listen(ctx, s.HealthListen)
	if err != nil {
		return err
	}
	if err := s.writeKey(); err != nil {
		_ = l.Close()
		return err
	}
	if s.Health != nil {
		s.Health(l.Addr().String())
	}
	helpers.Go(func() {
		err := httpserver.Serve(ctx, l, s.health(), httpserver.Options{Name: "health", Grace: time.Second, Logger: s.log})
		if err != nil {
			s.log.Error("health is not served any more", "error", err)
		}
	})
	return nil
}

func (s *supervisor) run(ctx context.Context) error {
	for first := true; ; first = false {
		if len(s.WaitFor) > 0 {
			s.out.set(State{Phase: Waiting})
		}
		sessions, err := await(ctx, s.WaitFor, s.log)
		if err != nil {
			return nil //nolint:nilerr // an end that was asked for is none
		}
		begun := time.Now()
		s.out.set(State{Phase: Starting})
		c, err := start(s.Command, s.out, &s.births, s.born)
		switch {
		case err != nil && first:
			return kind(err, err)
		case err != nil:
			s.log.Error("the engine does not start", "error", err)
		default:
			s.log.Info("engine started", "pid", c.pid)
			if s.attend(ctx, c, sessions) {
				return nil
			}
			s.log.Warn("engine ended", "pid", c.pid, "how", c.how)
			if c.illegal {
				return fault.Errorf(fault.Unsupported, "cannot run program %q: it uses an instruction that this processor lacks, because it was built for another one: %s", s.Command[0], s.Engine.Needs)
			}
		}
		if !s.pause(ctx, time.Since(begun)) {
			return nil
		}
	}
}

func (s *supervisor) born(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pid = pid
}

// attend returns when the process has ended, and reports whether Run must return.
// The sessions are those of the workers with which the process starts.
func (s *supervisor) attend(ctx context.Context, c *child, sessions []string) (last bool) {
	s.mu.Lock()
	s.late = c.late
	s.mu.Unlock()
	broken, stop := s.followRing(ctx, sessions)
	defer stop()
	if last = !s.watch(ctx, c, broken); last {
		s.drain(c)
	}
	s.born(0)
	return last
}

// drain stops the process when its session has ended, or after the grace period.
func (s *supervisor) drain(c *child) {
	s.log.Info("ending once the session is over", "grace", s.Grace)
	grace := time.NewTimer(s.Grace)
	defer grace.Stop()
	tick := time.NewTicker(drainEvery)
	defer tick.Stop()
	for waiting := s.busy(); waiting; {
		select {
		case <-c.done:
			return
		case <-grace.C:
			s.log.Warn("the session did not end in time", "grace", s.Grace)
			waiting = false
		case <-tick.C:
			waiting = s.busy()
		}
	}
	c.signal(syscall.SIGTERM)
	select {
	case <-c.done:
		return
	case <-time.After(untilKill):
	}
	c.signal(syscall.SIGKILL)
	<-c.done
}

// pause waits before the next start, and returns false if ctx has ended.
func (s *supervisor) pause(ctx context.Context, life time.Duration) bool {
	s.mu.Lock()
	delay := s.tries.next(life)
	s.again++
	s.mu.Unlock()
	s.out.set(State{Phase: Restarting})
	select {
	case <-ctx.Done():
	case <-time.After(delay):
	}
	return ctx.Err() == nil
}

// view returns the current view of the process's sockets.
func (s *supervisor) view() view {
	s.mu.Lock()
	pid, late := s.pid, s.late
	s.mu.Unlock()
	if pid == 0 {
		return view{}
	}
	v := look(pid)
	v.late = late
	return v
}

// look returns the state, and whether a session is active.
func (s *supervisor) look() (State, bool) {
	v := s.view()
	now, text := s.out.get(v)
	return now, now.busy(s.role, v, text)
}

func (s *supervisor) busy() bool {
	_, busy := s.look()
	return busy
}

func (s *supervisor) healthy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries.healthy()
}

func (s *supervisor) restarts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.again
}
