package modelartifact

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/model/progress"
)

// quiet is how long numbers may lag behind while a Job runs: every change of the
// status is an event for the composite.
const quiet = 30 * time.Second

// Watch calls changed at once, when a Job begins, ends, fails, enters another stage, or begins
// or ends to try a call again, and every 30 seconds while it makes progress, until ctx ends.
// news receives a token for each write of the report, and read reads it.
func Watch(ctx context.Context, news <-chan struct{}, read func(context.Context) (progress.Report, error), changed func()) error {
	type step struct {
		stage string
		phase progress.Phase
		again bool
	}
	var at step
	lull := time.NewTimer(0)
	defer lull.Stop()
	<-lull.C
	waiting := false
	changed()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-lull.C:
			waiting = false
			changed()
			continue
		case <-news:
		}
		r, err := read(ctx)
		if now := (step{r.Stage, r.Phase, r.Message != ""}); err != nil || now != at || r.Phase != progress.Running {
			at = now
			changed()
		} else if !waiting {
			waiting = true
			lull.Reset(quiet)
		}
	}
}
