package modelartifact_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/external/modelartifact"
	"github.com/gorizond/koldun/internal/progress"
)

// A Job of 98 seconds reports every 700 ms. Its beginning, its end and the
// next stage are told at once, numbers every 30 seconds. The clock is synctest's:
// to sleep is to set it, and takes no time.
func TestWatchKeepsTheEventBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var now progress.Report
		var told []time.Duration
		began := time.Now()
		news := make(chan struct{})
		read := func(context.Context) (progress.Report, error) { return now, nil }
		done := make(chan error, 1)
		go func() {
			done <- modelartifact.Watch(ctx, news, read, func() { told = append(told, time.Since(began)) })
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
		report(progress.Report{Stage: "convert", Phase: progress.Failed, Message: "full"})
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		const ms = time.Millisecond
		want := []time.Duration{
			0,                                     // as it is when the watch begins
			0,                                     // the fetch runs
			30_700 * ms, 60_800 * ms, 90_900 * ms, // each 30 s after a number that was not told
			98_000 * ms,              // done
			99_000 * ms, 99_000 * ms, // the conversion runs, and fails
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("told at (-want +got):\n%s", diff)
		}
	})
}
