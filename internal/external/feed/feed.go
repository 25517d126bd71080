// Package feed shares one watch among many followers. The watch runs only while
// there are followers.
package feed

import (
	"context"
	"sync"
)

// Everyone is the topic of all followers.
const Everyone = ""

// A Source watches until ctx ends, and returns only then. It calls tell with
// each changed topic; tell does not block.
type Source func(ctx context.Context, tell func(topic string))

// A Feed runs one Source for all its followers. It is safe for concurrent use.
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

// New returns a Feed without followers.
func New(source Source) *Feed { return &Feed{source: source, followers: map[*follower]bool{}} }

// Follow returns a channel with room for one token, which means that the topic
// has changed. The first follower starts the source. The caller must call stop
// once; the stop of the last follower blocks until the source has ended.
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

// Each calls changed for every token in news until ctx ends. It never calls
// changed concurrently.
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
