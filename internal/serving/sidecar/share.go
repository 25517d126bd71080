package sidecar

import (
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/fault"
)

const (
	loadEvery = 2 * time.Second
	// loadAgain is the pause after a server answered that it does not say its load.
	loadAgain = 30 * time.Second
	// maxSilent is the number of readings without an answer after which the last
	// answer counts no more: 30 s, or more if the server lets the reader wait.
	maxSilent = 15
)

// A share is how many of its slots a runner offers while others use its server too.
type share struct {
	slots, offered int
	silent         int // readings without an answer since the last one
	foreign        int // requests from elsewhere, when the load was last read
}

// after returns the share after the load was read, or was not, and when to read it
// again. Of a server that does not say its load, all slots are offered; one that is
// not ready may say it later. One that does not answer may be too busy for that, as
// llama.cpp's is when its HTTP threads wait: then nothing changes at first. After
// maxSilent readings the last answer says nothing any more, as of a server whose
// metrics have moved: more slots are offered step by step.
func (s share) after(l engineapi.Load, own int, err error, ready bool) (next share, again time.Duration) {
	switch {
	case err == nil:
		s.silent = 0
		return s.next(l, own), loadEvery
	case ready && fault.Is(err, fault.Unsupported):
		return share{slots: s.slots, offered: s.slots}, loadAgain
	}
	if s.silent++; s.silent >= maxSilent {
		s.silent, s.foreign = maxSilent, 0
		s = s.more()
	}
	return s, loadEvery
}

// more offers one step more.
func (s share) more() share {
	s.offered = min(s.offered+(s.slots+3)/4, s.slots)
	return s
}

// next returns the share after the server said its load, of which at most own
// requests are the runner's. A server in which requests wait is full: what the
// runner adds would wait there, where no other runner can take it. So it offers as
// many slots as it has requests there, less those that wait. One slot stays, because
// others may never leave the server. When nothing waits any more, it offers more
// slots step by step.
//
// A request may begin or end while the load is read, so only requests that were
// there twice count as from elsewhere.
func (s share) next(l engineapi.Load, own int) share {
	foreign := max(l.Running+l.Waiting-own, 0)
	seen := min(foreign, s.foreign)
	s.foreign = foreign
	switch {
	case seen == 0:
		s.offered = s.slots
	case l.Waiting == 0:
		return s.more()
	default:
		s.offered = min(s.offered, max(own-l.Waiting, 1))
	}
	return s
}

// taken is how many slots the runner does not offer.
func (s share) taken() int { return s.slots - s.offered }
