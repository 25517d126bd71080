package pod

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Readiness is probed often until the container is ready, and then less often,
// regardless of the probe's period.
const (
	eager   = 200 * time.Millisecond
	relaxed = time.Second
)

// probe probes a started container until ctx ends.
func (r *run) probe(ctx context.Context, c Process, giveUp context.CancelCauseFunc) {
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, Proxy: nil},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if c.Startup != nil {
		if err := startup(ctx, client, c.Startup); err != nil {
			giveUp(err)
			return
		}
	}
	if ctx.Err() != nil {
		return
	}
	var both sync.WaitGroup
	defer both.Wait()
	if c.Liveness != nil {
		both.Go(func() {
			if err := liveness(ctx, client, c.Liveness); err != nil {
				giveUp(err)
			}
		})
	}
	if c.Readiness == nil {
		r.set(c.Name, "")
		return
	}
	both.Go(func() {
		readiness(ctx, client, c.Readiness, func(why string) { r.set(c.Name, why) })
	})
}

// startup returns when the container has started, or an error if it takes longer
// than its probe allows.
func startup(ctx context.Context, client *http.Client, c *Check) error {
	limit := time.Now().Add(c.Delay + c.Period*time.Duration(c.Threshold))
	for {
		err := get(ctx, client, c)
		if err == nil || !pause(ctx, eager) {
			return nil
		}
		if time.Now().After(limit) {
			return fmt.Errorf("%w: it has not started in time: %w", errUnhealthy, err)
		}
	}
}

// liveness returns an error when the container has failed its probe too often.
func liveness(ctx context.Context, client *http.Client, c *Check) error {
	if !pause(ctx, c.Delay) {
		return nil
	}
	for failures := 0; ; {
		if !pause(ctx, c.Period) {
			return nil
		}
		err := get(ctx, client, c)
		if err == nil {
			failures = 0
			continue
		}
		if failures++; failures >= c.Threshold && ctx.Err() == nil {
			return fmt.Errorf("%w: it is not alive: %w", errUnhealthy, err)
		}
	}
}

// readiness reports whether the container is ready until ctx ends.
func readiness(ctx context.Context, client *http.Client, c *Check, tell func(why string)) {
	wait := eager
	for failures := 0; ; {
		err := get(ctx, client, c)
		if ctx.Err() != nil {
			return
		}
		switch {
		case err == nil:
			failures, wait = 0, relaxed
			tell("")
		case wait == eager: // not ready before
			tell("is not ready: " + err.Error())
		default:
			if failures++; failures >= c.Threshold {
				wait = eager
				tell("is not ready any more: " + err.Error())
			}
		}
		if !pause(ctx, wait) {
			return
		}
	}
}

// get probes once.
func get(ctx context.Context, client *http.Client, c *Check) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, nil)
	if err != nil {
		return err
	}
	rsp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = rsp.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(rsp.Body, 200))
	body = bytes.TrimSpace(body)
	if rsp.StatusCode < 200 || rsp.StatusCode >= 400 {
		return fmt.Errorf("GET %s: %s: %s", c.URL, rsp.Status, body)
	}
	return nil
}
