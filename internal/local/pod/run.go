package pod

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/local/process"
)

// A process that exits is restarted after firstWait, then after twice as long
// each time up to lastWait. A process that ran for steady starts over.
const (
	firstWait = 200 * time.Millisecond
	lastWait  = 10 * time.Second
	steady    = 30 * time.Second
)

// A Machine runs pods.
type Machine struct {
	Tether *process.Tether
	Binary string        // program of containers that name none
	Logs   string        // folder of logs, POD/CONTAINER.log
	Grace  time.Duration // longest time for a process to exit
	// Exec are the arguments with which Binary runs a program of another project; nil: it
	// runs by itself.
	Exec []string
}

// A Watcher gets the events of a pod, from several goroutines concurrently.
type Watcher interface {
	Started(container string, pid int)
	// Ended reports how a process ended and when it restarts; 0 means never.
	// Without a container's name, the pod could not start.
	Ended(container string, end End, again time.Duration)
	// Ready reports a change of readiness or of the reason against it.
	Ready(ready bool, why string)
}

// An End describes how one process ended.
type End struct {
	Status int    // exit status, see process.Exit.Status; -1 if it could not run
	How    string // description for users
}

// endOf converts the result of a tether's Run.
func endOf(exit process.Exit, err error) End {
	if err != nil {
		return End{Status: -1, How: err.Error()}
	}
	return End{Status: exit.Status(), How: exit.String()}
}

// A Result describes how a pod that runs to completion ended.
type Result struct {
	OK        bool
	Container string // the container that failed
	Code      int    // its exit status, see process.Exit.Status; -1 if it could not run
	Message   string // description for users
}

type run struct {
	*Machine
	plan  *Plan
	watch Watcher
	logs  map[string]*process.Log

	mu    sync.Mutex
	why   map[string]string // by container, why it is not ready
	ready bool
	told  string
}

// Keep runs a pod until ctx ends, and restarts processes that exit before. It
// returns when all of its processes have exited and its folder is removed.
func (m *Machine) Keep(ctx context.Context, p *Plan, w Watcher) {
	r := m.newRun(p, w)
	defer r.close()
	for wait := firstWait; !r.begin(ctx, wait); wait = min(2*wait, lastWait) {
		if !pause(ctx, wait) {
			return
		}
	}
	var all sync.WaitGroup
	for _, c := range p.Containers {
		all.Go(func() { r.keep(ctx, c) })
	}
	all.Wait()
}

// Complete runs a pod once: its init containers in sequence, then its containers
// in parallel. The first failure stops the others.
func (m *Machine) Complete(ctx context.Context, p *Plan, w Watcher) Result {
	r := m.newRun(p, w)
	defer r.close()
	if err := r.prepare(); err != nil {
		return Result{Code: -1, Message: err.Error()}
	}
	for _, c := range p.Inits {
		if res := r.complete(ctx, c, 0); !res.OK {
			return res
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan Result, len(p.Containers))
	for _, c := range p.Containers {
		go func() { results <- r.complete(ctx, c, 0) }()
	}
	end := Result{OK: true}
	for range p.Containers {
		if res := <-results; !res.OK && end.OK {
			end = res
			cancel()
		}
	}
	return end
}

func (m *Machine) newRun(p *Plan, w Watcher) *run {
	r := &run{Machine: m, plan: p, watch: w, logs: map[string]*process.Log{}, why: map[string]string{}}
	for _, c := range p.Containers {
		r.why[c.Name] = "it has not started yet"
	}
	return r
}

// prepare creates folders, files and logs.
func (r *run) prepare() error {
	for _, dir := range r.plan.Folders {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("cannot make folder: %w", err)
		}
	}
	for path, data := range r.plan.Files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("cannot make folder: %w", err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return fmt.Errorf("cannot write file: %w", err)
		}
	}
	for _, list := range [][]Process{r.plan.Inits, r.plan.Containers} {
		for _, c := range list {
			if r.logs[c.Name] != nil {
				continue
			}
			log, err := process.OpenLog(filepath.Join(r.Logs, r.plan.Name, c.Name+".log"))
			if err != nil {
				return err
			}
			r.logs[c.Name] = log
		}
	}
	return nil
}

func (r *run) close() {
	for _, log := range r.logs {
		log.Close()
	}
	_ = os.RemoveAll(r.plan.Dir)
}

// begin prepares the pod and runs its init containers. It returns false if that
// has failed and must be retried.
func (r *run) begin(ctx context.Context, again time.Duration) bool {
	if err := r.prepare(); err != nil {
		r.setAll(err.Error())
		r.watch.Ended("", End{Status: -1, How: err.Error()}, again)
		return false
	}
	for _, c := range r.plan.Inits {
		if res := r.complete(ctx, c, again); !res.OK {
			r.setAll("waits: " + res.Message)
			return false
		}
	}
	return true
}

// complete runs a container once. The parameter again is the pause before a retry.
func (r *run) complete(ctx context.Context, c Process, again time.Duration) Result {
	end := endOf(r.once(ctx, c))
	if end.Status == 0 {
		r.watch.Ended(c.Name, end, 0)
		return Result{OK: true}
	}
	if ctx.Err() != nil {
		again = 0
	}
	r.watch.Ended(c.Name, end, again)
	return Result{Container: c.Name, Code: end.Status, Message: fmt.Sprintf("container %q %s", c.Name, end.How)}
}

// keep runs a container and restarts it whenever it exits.
func (r *run) keep(ctx context.Context, c Process) {
	wait := firstWait
	for {
		began := time.Now()
		end := endOf(r.once(ctx, c))
		if ctx.Err() != nil {
			r.watch.Ended(c.Name, end, 0)
			return
		}
		if time.Since(began) >= steady {
			wait = firstWait
		}
		r.watch.Ended(c.Name, end, wait)
		r.set(c.Name, end.How)
		if !pause(ctx, wait) {
			return
		}
		wait = min(2*wait, lastWait)
	}
}

// errUnhealthy is the cause of stopping a process that has failed its probes.
var errUnhealthy = errors.New("was ended because of its probe")

// once runs a container's process and its probes.
func (r *run) once(ctx context.Context, c Process) (process.Exit, error) {
	ctx, giveUp := context.WithCancelCause(ctx)
	probing, stopProbing := context.WithCancel(ctx)
	var probes sync.WaitGroup
	defer giveUp(nil)

	grace := r.Grace
	if r.plan.Grace > 0 {
		grace = min(grace, r.plan.Grace)
	}
	path, args := r.command(c)
	exit, err := r.Tether.Run(ctx, process.Spec{
		Path: path, Args: args, Env: c.Env, Dir: r.plan.Dir, Grace: grace, Log: r.logs[c.Name],
		Started: func(pid int) {
			r.watch.Started(c.Name, pid)
			probes.Go(func() { r.probe(probing, c, giveUp) })
		},
	})
	stopProbing()
	probes.Wait()
	if cause := context.Cause(ctx); err == nil && errors.Is(cause, errUnhealthy) {
		err = cause
	}
	return exit, err
}

// command returns the program of a container and its arguments.
func (r *run) command(c Process) (path string, args []string) {
	switch {
	case c.Path == "":
		return r.Binary, c.Args
	case r.Exec == nil || filepath.Base(c.Path) == "koldun":
		return c.Path, c.Args
	}
	return r.Binary, slices.Concat(r.Exec, []string{c.Path}, c.Args)
}

// set records why a container is not ready; "" means that it is ready.
func (r *run) set(container, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.why[container] = why
	r.tell()
}

func (r *run) setAll(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.why {
		r.why[c] = why
	}
	r.tell()
}

// tell reports changes to the watcher. The caller holds the lock, so that changes
// arrive in order.
func (r *run) tell() {
	why := ""
	for _, c := range r.plan.Containers {
		if w := r.why[c.Name]; w != "" {
			why = fmt.Sprintf("container %q %s", c.Name, w)
			break
		}
	}
	ready := why == ""
	if ready == r.ready && why == r.told {
		return
	}
	r.ready, r.told = ready, why
	r.watch.Ready(r.ready, why)
}

// pause waits, and returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
