package modelartifact_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/model/progress"
)

// A Job of 98 seconds reports every 700 ms. Watch calls changed at once for its
// start, its end and the next stage, and every 30 seconds for numbers. The clock is
// synctest's, so sleeps take no time.
func TestWatchKeepsTheEventBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var now progress.Report
		var calls []time.Duration
		began := time.Now()
		news := make(chan struct{})
		read := func(context.Context) (progress.Report, error) { return now, nil }
		done := make(chan error, 1)
		go func() {
			done <- modelartifact.Watch(ctx, news, read, func() { calls = append(calls, time.Since(began)) })
		}()
		report := func(r progress.Report) {
			now = r
			news <- struct{}{}
			synctest.Wait()
		}
		for i := range int64(140) {
			report(progress.Report{Stage: "fetch", Phase: progress.Running, Bytes: i, Total: 140})
			time.Sleep(700 * time.Millisecond)
		}
		report(progress.Report{Stage: "fetch", Phase: progress.Done, Bytes: 140, Total: 140})
		time.Sleep(time.Second)
		report(progress.Report{Stage: "convert", Phase: progress.Running})
		time.Sleep(time.Second)
		report(progress.Report{Stage: "convert", Phase: progress.Running, Message: "no store"})
		report(progress.Report{Stage: "convert", Phase: progress.Running, Message: "still no store"})
		time.Sleep(time.Second)
		report(progress.Report{Stage: "convert", Phase: progress.Running})
		report(progress.Report{Stage: "convert", Phase: progress.Failed, Message: "full"})
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		const ms = time.Millisecond
		want := []time.Duration{
			0,                                     // the state when the watch starts
			0,                                     // the fetch runs
			30_700 * ms, 60_800 * ms, 90_900 * ms, // 30 s after the first number without a call
			98_000 * ms,                // done
			99_000 * ms,                // the conversion runs
			100_000 * ms, 101_000 * ms, // it tries again, and goes on
			101_000 * ms, // it fails
		}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("times of the calls (-want +got):\n%s", diff)
		}
	})
}
