package queue_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue"
)

// Each attempt at a request receives the resumes of that request until it stops,
// also the second attempt on the same runner; attempts at other requests do not.
func TestResumes(t *testing.T) {
	srv := natstest.Start(t)
	client, runner := connect(t, srv), connect(t, srv)
	ctx, cancel := context.WithCancel(testContext(t))
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	resumes := runner.Resumes()
	running.Go(func() { resumes.Run(ctx) })

	type heard struct {
		By   string
		From queue.Resume
	}
	calls := make(chan heard, 10)
	serve := func(by, id string) func() {
		stop, err := resumes.Serve(request(id).Ref(), func(from queue.Resume) { calls <- heard{by, from} })
		if err != nil {
			t.Fatal(err)
		}
		return stop
	}
	stopFirst, stopSecond, stopOther := serve("first", "req_1"), serve("second", "req_1"), serve("other", "req_2")
	defer stopSecond()
	defer stopOther()
	asks := func(id string, from queue.Resume, want ...string) {
		t.Helper()
		if err := runner.Flush(); err != nil { // the subscriptions exist, or are removed
			t.Fatal(err)
		}
		ref := request(id).Ref()
		if err := client.Send(names.ResumeSubject(ref.Session, ref.ID), from); err != nil {
			t.Fatal(err)
		}
		got := map[string]queue.Resume{}
		for range want {
			select {
			case h := <-calls:
				got[h.By] = h.From
			case <-ctx.Done():
				t.Fatal("the resume is not delivered")
			}
		}
		all := map[string]queue.Resume{}
		for _, by := range want {
			all[by] = from
		}
		if d := cmp.Diff(all, got); d != "" {
			t.Error(d)
		}
	}
	asks("req_1", queue.Resume{Epoch: 1, Attempt: 1, Seq: 7}, "first", "second")
	stopFirst()
	asks("req_1", queue.Resume{Epoch: 1, Attempt: 2}, "second")
	asks("req_2", queue.Resume{Seq: 3}, "other") // and each earlier resume was delivered once
}
