// Package sidecar runs beside one engine and is its only client. It announces a
// runner, accepts as many requests at a time as the engine has slots, streams the
// generated text as numbered frames, and reports the end of each attempt until a
// leader has acknowledged it.
package sidecar

import (
	"context"
	"fmt"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gorizond/koldun/internal/network/httpserver"
)

// Run serves until ctx ends. It then refuses assignments, hands back attempts
// without text, waits Config.Grace for the others, reports them, and removes the
// runner's record. It returns nil after such an end, or an error if it cannot
// start.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.setDefaults(); err != nil {
		return err
	}
	var listener net.Listener
	if cfg.Listen != "" {
		l, err := httpserver.Listen(ctx, cfg.Listen)
		if err != nil {
			return fmt.Errorf("cannot serve health of runner %q: %w", cfg.Runner, err)
		}
		listener = l
	}
	r := newRunner(cfg)
	a := &announcer{r: r}
	d := newDrain(r)

	// The context work outlives ctx for draining.
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	x := newExecutor(r, func() (context.Context, context.CancelCauseFunc) { return context.WithCancelCause(work) })
	s := &server{r: r, executor: x}
	unsubscribe, err := s.subscribe(a)
	if err != nil {
		if listener != nil {
			_ = listener.Close()
		}
		return err
	}
	defer unsubscribe()

	var g errgroup.Group
	if listener != nil {
		g.Go(func() error {
			return httpserver.Serve(work, listener, health{r, d}.handler(), httpserver.Options{Name: "health", Hosts: cfg.Hosts, Grace: time.Second, Logger: cfg.Logger})
		})
	}
	g.Go(func() error { a.announce(work); return nil })
	g.Go(func() error { reporter{r}.report(work); return nil })
	for range cfg.Slots {
		g.Go(func() error { x.execute(work); return nil })
	}
	g.Go(func() error { engineWatcher{r}.watch(ctx); return nil })
	g.Go(func() error { engineFollower{r}.follow(ctx); return nil })
	if cfg.Loaded != nil {
		g.Go(func() error { loadWatcher{r}.watch(ctx); return nil })
	}
	if cfg.Member != "" {
		g.Go(func() error { (&trafficWatcher{r: r}).watch(work); return nil })
	}
	<-ctx.Done()
	cfg.Logger.Info("draining")
	d.run()
	unsubscribe()
	stopWork()
	err = g.Wait()
	a.withdraw()
	cfg.Logger.Info("stopped")
	return err
}
