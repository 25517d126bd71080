package local

import (
	"context"
	"slices"
	"sync"

	"github.com/gorizond/koldun/internal/fault"
)

// A Root is one claim and its state.
type Root struct {
	Object Object // with its status
	Ready  bool
	// Failed means that waiting cannot make it ready, for this Reason.
	Failed  bool
	Reason  string
	Message string
	// Endpoints are the open ports below it, oldest first.
	Endpoints []Endpoint
}

// An outcome holds the state of the roots. It is safe for concurrent use.
type outcome struct {
	mu    sync.Mutex
	roots []Root
	known bool // whether the roots have been examined
	over  bool
	err   error
	news  chan struct{} // closed and replaced at each change
}

func newOutcome() outcome { return outcome{news: make(chan struct{})} }

func (o *outcome) set(roots []Root) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.roots, o.known = roots, true
	o.notify()
}

func (o *outcome) end(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over, o.err = true, err
	o.notify()
}

func (o *outcome) notify() {
	close(o.news)
	o.news = make(chan struct{})
}

// Wait blocks until every composite and managed resource of the claims is ready
// or has failed, and returns them in order. It returns an error if ctx or Run
// ends before. The states may change afterwards. It is safe for concurrent use.
func (l *Local) Wait(ctx context.Context) ([]Root, error) {
	for {
		roots, news, err := l.outcome.look()
		if news == nil {
			return roots, err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// look returns the roots if all are ready or failed, else a channel to wait for.
func (o *outcome) look() ([]Root, <-chan struct{}, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		if o.err == nil {
			return nil, nil, fault.Errorf(fault.Interrupted, "cannot wait for claims: everything has been stopped")
		}
		return nil, nil, o.err
	}
	undecided := func(r Root) bool { return !r.Ready && !r.Failed }
	if !o.known || slices.ContainsFunc(o.roots, undecided) {
		return nil, o.news, nil
	}
	return slices.Clone(o.roots), nil, nil
}

// publishOutcome updates the outcome with the state of the roots.
func (l *Local) publishOutcome() {
	var roots []Root
	for _, key := range l.roots {
		switch classOf(key) {
		case compositeClass, managedClass:
			if e := l.table.entries[key]; e != nil {
				roots = append(roots, l.root(e))
			}
		}
	}
	l.outcome.set(roots)
}

func (l *Local) root(e *entry) Root {
	r := Root{Object: e.obj, Ready: condition(e.obj, Ready).Status == True, Endpoints: l.table.endpoints(e)}
	serving := condition(e.obj, Serving)
	r.Reason, r.Message = serving.Reason, serving.Message
	if r.Ready {
		return r
	}
	if serving.Status == False && l.cfg.FinalReason(serving.Reason) {
		r.Failed = true
		return r
	}
	if blocked, by := l.table.blockedBelow(e); blocked != "" {
		r.Failed, r.Reason, r.Message = true, "NotRunHere", by.String()+": "+blocked
		if classOf(by) == compositeClass || l.table.entries[by].gaveUp {
			r.Reason = "ReconcileError"
		}
	}
	return r
}
