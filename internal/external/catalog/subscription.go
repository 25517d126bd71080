package catalog

import (
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// maxPending bounds the messages that wait. Further ones are lost, and the next
// poll finds the changes that they announce.
const maxPending = 4096

// A subscription notifies its followers of the messages on one subject, by
// topic. It does not read the messages.
type subscription struct {
	sub  *nats.Subscription
	stop chan struct{}
	done chan struct{}

	mu        sync.Mutex
	followers map[string]map[chan struct{}]bool // by topic
}

// subscribe subscribes to a subject until close. topic returns the topic of a
// message by its subject.
func subscribe(b *bus.Bus, subject string, topic func(string) string) (*subscription, error) {
	messages := make(chan *nats.Msg, maxPending)
	sub, err := b.Conn().ChanSubscribe(subject, messages)
	if err != nil {
		return nil, fault.Errorf(fault.Transient, "cannot subscribe to %q: %w", subject, err)
	}
	if err := b.Flush(); err != nil { // from here on no message is missed
		_ = sub.Unsubscribe()
		return nil, fault.Errorf(fault.Transient, "cannot subscribe to %q: %w", subject, err)
	}
	s := &subscription{sub: sub, stop: make(chan struct{}), done: make(chan struct{}), followers: map[string]map[chan struct{}]bool{}}
	go func() {
		defer close(s.done)
		for {
			select {
			case <-s.stop:
				return
			case m := <-messages:
				s.notify(topic(m.Subject))
			}
		}
	}()
	return s, nil
}

// follow returns a channel that holds one token whenever there was a message of
// one of the topics. stop has to be called once.
func (s *subscription) follow(topics []string) (news <-chan struct{}, stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := make(chan struct{}, 1)
	for _, t := range topics {
		if s.followers[t] == nil {
			s.followers[t] = map[chan struct{}]bool{}
		}
		s.followers[t][c] = true
	}
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, t := range topics {
			delete(s.followers[t], c)
			if len(s.followers[t]) == 0 {
				delete(s.followers, t)
			}
		}
	}
}

func (s *subscription) notify(topic string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.followers[topic] {
		select {
		case c <- struct{}{}:
		default: // the follower has not read the last token yet
		}
	}
}

func (s *subscription) close() {
	_ = s.sub.Unsubscribe()
	close(s.stop)
	<-s.done
}
