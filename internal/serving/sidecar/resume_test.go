package sidecar_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// A client that resumes after its runner has answered many other requests receives its
// answer. After the runner has stopped it receives an error.
func TestResumeAfterManyRequests(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	r1 := w.sidecar("r1", enginetest.Start(t, nil))
	first := w.send(chat("req_first", "the first answer"))
	first.want("the first answer")
	var others []*client
	for i := range 50 {
		others = append(others, w.send(chat(fmt.Sprintf("req_%d", i), "another")))
	}
	for _, c := range others {
		c.want("another")
	}
	late := w.follow(first.req)
	w.sendGap(late)
	late.want("the first answer")

	r1.stop(t)
	lost := w.follow(first.req)
	w.sendGap(lost)
	if _, last := lost.finish(); last.Kind != queue.FrameError || last.Error.Code != queue.CodeInterrupted {
		t.Errorf("the last frame is %q (%+v), want error %q", last.Kind, last.Error, queue.CodeInterrupted)
	}
}

// sendGap publishes a frame with a later number, so that the client notices missing
// frames.
func (w *world) sendGap(c *client) {
	w.t.Helper()
	f := queue.Frame{Request: c.req.ID, Epoch: 1, Attempt: 1, Seq: 1 << 20, Kind: queue.FrameDelta, Text: "?"}
	if err := queue.New(w.bus).PublishFrame(c.req.Session, f); err != nil {
		w.t.Fatal(err)
	}
}

// A client that missed more frames than the runner stores receives an error at once,
// while the generation continues.
func TestResumeOfDroppedFramesFails(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	const pieces = 20
	piece := strings.Repeat("x", 256<<10) // in total more than a log stores
	e, gate := gated(t, strings.Split(strings.Repeat(piece+",", pieces), ",")[:pieces]...)
	w.sidecar("r1", e)
	first := w.send(chat("req_1", "slow"))
	for range pieces - 2 {
		pass(t, gate)
		first.until(queue.FrameDelta)
	}
	late := w.follow(first.req)
	pass(t, gate)
	first.until(queue.FrameDelta)
	if _, last := late.finish(); last.Kind != queue.FrameError || last.Error.Code != queue.CodeInterrupted {
		t.Errorf("the last frame is %q (%+v), want error %q", last.Kind, last.Error, queue.CodeInterrupted)
	}
	if !e.Active() {
		t.Error("the generation has ended: the test proves nothing")
	}
}
