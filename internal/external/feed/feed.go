// Package feed lets many follow what one watch sees, which runs only while
// somebody does.
package feed

import (
	"context"
	"sync"
)

// Everyone is the topic that all followers hear of.
const Everyone = ""

// A Source watches until ctx ends, and returns only then. It tells each topic
// that has news; tell does not block.
type Source func(ctx context.Context, tell func(topic string))

// A Feed runs one Source for all its followers. Safe for concurrent use.
type Feed struct {
	source Source

	life   sync.Mutex // held while the source is started or stopped
	cancel context.CancelFunc
	ended  chan struct{}

	mu        sync.Mutex // guards followers
	followers map[*follower]bool
}

type follower struct {
	topic string
	news  chan struct{}
}

// New is a Feed that does not run yet.
func New(source Source) *Feed { return &Feed{source: source, followers: map[*follower]bool{}} }

// Follow returns a channel that holds one token whenever there was news of the
// topic. The first follower starts the source. stop has to be called once; when
// the last follower stops it blocks until the source has ended.
func (f *Feed) Follow(topic string) (news <-chan struct{}, stop func()) {
	one := &follower{topic: topic, news: make(chan struct{}, 1)}
	f.life.Lock()
	defer f.life.Unlock()
	f.mu.Lock()
	f.followers[one] = true
	f.mu.Unlock()
	if f.cancel == nil {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		f.cancel, f.ended = cancel, ended
		go func() {
			defer close(ended)
			f.source(ctx, f.tell)
		}()
	}
	return one.news, func() { f.leave(one) }
}

// Each calls changed for every token in news, until ctx ends. It is for whoever
// follows and has nothing else to wait for; changed is not called twice at a
// time.
func Each(ctx context.Context, news <-chan struct{}, changed func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-news:
			changed()
		}
	}
}

func (f *Feed) leave(one *follower) {
	f.life.Lock()
	defer f.life.Unlock()
	f.mu.Lock()
	delete(f.followers, one)
	left := len(f.followers)
	f.mu.Unlock()
	if left == 0 {
		f.cancel()
		<-f.ended
		f.cancel = nil
	}
}

func (f *Feed) tell(topic string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for one := range f.followers {
		if topic != Everyone && topic != one.topic {
			continue
		}
		select {
		case one.news <- struct{}{}:
		default: // it will look anyway
		}
	}
}
