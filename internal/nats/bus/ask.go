package bus

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// askTick is the precision of the time limit of a request.
const askTick = 250 * time.Millisecond

// noResponders is the status of a server's answer when there is no subscriber.
const noResponders = "503"

// asks holds the open requests of Ask. They share one subscription and need no
// goroutine each, which would dominate the cost of a request.
type asks struct {
	mu      sync.Mutex // guards the fields below
	sub     *nats.Subscription
	prefix  string // of the reply subjects
	last    uint64
	open    map[uint64]ask
	ticking bool
}

type ask struct {
	until    time.Time
	answered func(msg *nats.Msg, err error)
}

// AskMsg publishes a message and calls answered once, from another goroutine,
// with the answer, with nats.ErrNoResponders or, after the time within, with
// context.DeadlineExceeded. If AskMsg returns an error, it does not call
// answered. answered must not block for long.
func (m *messages) AskMsg(msg *nats.Msg, within time.Duration, answered func(msg *nats.Msg, err error)) error {
	a := &m.asks
	a.mu.Lock()
	if a.sub == nil {
		prefix := m.conn.nc.NewInbox() + "."
		sub, err := m.conn.nc.Subscribe(prefix+"*", a.deliver)
		if err != nil {
			a.mu.Unlock()
			return Kinded(err)
		}
		a.sub, a.prefix, a.open = sub, prefix, map[uint64]ask{}
	}
	a.last++
	number := a.last
	a.open[number] = ask{time.Now().Add(within), answered}
	if !a.ticking {
		a.ticking = true
		time.AfterFunc(askTick, a.tick)
	}
	msg.Reply = a.prefix + strconv.FormatUint(number, 36)
	a.mu.Unlock()
	if err := m.conn.nc.PublishMsg(msg); err != nil {
		if _, open := a.take(number); open {
			return Kinded(err)
		}
	}
	return nil
}

func (a *asks) take(number uint64) (ask, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, ok := a.open[number]
	delete(a.open, number)
	return one, ok
}

func (a *asks) deliver(m *nats.Msg) {
	number, err := strconv.ParseUint(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], 36, 64)
	if err != nil {
		return
	}
	one, ok := a.take(number)
	switch {
	case !ok: // too late
	case len(m.Data) == 0 && m.Header.Get("Status") == noResponders:
		one.answered(nil, nats.ErrNoResponders)
	default:
		one.answered(m, nil)
	}
}

// tick ends expired requests, and runs again while there are others.
func (a *asks) tick() {
	now := time.Now()
	var over []ask
	a.mu.Lock()
	for number, one := range a.open {
		if now.After(one.until) {
			over = append(over, one)
			delete(a.open, number)
		}
	}
	a.ticking = len(a.open) > 0
	if a.ticking {
		time.AfterFunc(askTick, a.tick)
	}
	a.mu.Unlock()
	for _, one := range over {
		one.answered(nil, context.DeadlineExceeded)
	}
}

// Ask is like Call without waiting: it publishes data and calls answered once,
// from another goroutine, within about the given time. If Ask returns an error,
// the message was not sent and answered is not called. answered must not block
// for long.
func Ask[A any](b *Bus, subject string, data []byte, within time.Duration, answered func(A, error)) error {
	return b.AskMsg(&nats.Msg{Subject: subject, Data: data}, within, func(msg *nats.Msg, err error) {
		var answer A
		if err != nil {
			answered(answer, callError(subject, err))
			return
		}
		err = decodeAnswer(subject, msg, &answer)
		answered(answer, err)
	})
}
