package connection

import (
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/fault"
)

// noticesHeld bounds messages that wait; further ones are lost, and the next
// poll finds what they told of.
const noticesHeld = 4096

// notices are the messages of one subject, told apart by topics, whatever they
// say.
type notices struct {
	sub  *nats.Subscription
	stop chan struct{}
	done chan struct{}

	mu        sync.Mutex
	followers map[string]map[chan struct{}]bool
}

// listen begins to hear a subject. topic makes topics of subjects.
func listen(b *bus.Bus, subject string, topic func(string) string) (*notices, error) {
	messages := make(chan *nats.Msg, noticesHeld)
	sub, err := b.Conn().ChanSubscribe(subject, messages)
	if err != nil {
		return nil, fault.Errorf(fault.Transient, "cannot listen to %q: %w", subject, err)
	}
	if err := b.Flush(); err != nil { // from here on nothing is missed
		_ = sub.Unsubscribe()
		return nil, fault.Errorf(fault.Transient, "cannot listen to %q: %w", subject, err)
	}
	n := &notices{sub: sub, stop: make(chan struct{}), done: make(chan struct{}), followers: map[string]map[chan struct{}]bool{}}
	go func() {
		defer close(n.done)
		for {
			select {
			case <-n.stop:
				return
			case m := <-messages:
				n.tell(topic(m.Subject))
			}
		}
	}()
	return n, nil
}

// follow returns a channel that holds one token whenever there was a message of
// one of the topics; stop has to be called once.
func (n *notices) follow(topics []string) (news <-chan struct{}, stop func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := make(chan struct{}, 1)
	for _, t := range topics {
		if n.followers[t] == nil {
			n.followers[t] = map[chan struct{}]bool{}
		}
		n.followers[t][c] = true
	}
	return c, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, t := range topics {
			delete(n.followers[t], c)
			if len(n.followers[t]) == 0 {
				delete(n.followers, t)
			}
		}
	}
}

func (n *notices) tell(topic string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.followers[topic] {
		select {
		case c <- struct{}{}:
		default: // it has not looked since the last one
		}
	}
}

func (n *notices) close() {
	_ = n.sub.Unsubscribe()
	close(n.stop)
	<-n.done
}
