package queue

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

const (
	readExpiry = 10 * time.Second // of one pull
	readIdle   = time.Minute      // time after which the server deletes an idle consumer
	readAhead  = 500              // messages fetched before they are handled

	// readPatience is how long a reader waits for an answer, for a heartbeat, or for a
	// message that it knows to exist. After patientAfter such waits in vain it doubles,
	// up to maxDoublings times: a message may be as large as the server permits, and the
	// link slow.
	readPatience = 2 * time.Second
	patientAfter = 3
	maxDoublings = 2
	// maxQuiet is the number of steps in which the reader waits for such a message. After
	// some of them it checks whether the message still exists.
	maxQuiet = 8
	// minHeartbeat is the shortest interval of heartbeats that the client library
	// accepts. Two missed heartbeats mean a lost server.
	minHeartbeat = 500 * time.Millisecond
)

var (
	errLostMessages = errors.New("messages were lost on the way")
	errBehind       = errors.New("the server that is read from lags behind or is silent")
)

// A streamReader reads the request stream in order, from the start, and from the start
// again after each reconnect. It uses short-lived consumers in the server's memory,
// each of which continues after the last message of its predecessor. (The ordered
// consumer of the client library waits up to ten seconds between attempts and
// cannot be interrupted.)
type streamReader struct {
	bus     *bus.Bus
	filter  string
	handle  func(msg jetstream.Msg, seq uint64)
	again   func()                  // called before all messages are read once more
	current func(connection uint64) // called each time when all existing messages have been handled
	reached bool                    // whether current was called for this connection
	// newest returns the sequence of the last message by the stream's leader, or
	// 0. The consumer may be on a lagging replica, so its own count of pending
	// messages is not reliable.
	newest func(ctx context.Context) (uint64, error)

	patience time.Duration // readPatience, except in tests
	vain     int           // waits in vain on this connection

	begun      bool
	connection uint64 // that the messages were read on

	last    uint64 // stream sequence
	until   uint64 // the reader is up to date when last reaches it
	lasting bool   // whether sequences of the stream are never reused
}

func (r *streamReader) run(ctx context.Context) {
	for attempt := 0; ctx.Err() == nil; attempt++ {
		before := r.last
		err := r.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if r.last != before {
			attempt = 0
		}
		r.bus.Logger().Debug("reading the request stream anew", "after", r.last, "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(bus.Backoff(attempt)):
		}
	}
}

// within returns how long the current attempt waits for a message or an answer.
func (r *streamReader) within() time.Duration {
	return r.patience << max(r.vain-patientAfter+1, 0)
}

func (r *streamReader) once(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reconnected := r.bus.Reconnected()
	go func() {
		select {
		case <-reconnected:
			cancel()
		case <-ctx.Done():
		}
	}()
	if now := r.bus.Connection(); !r.begun {
		r.begun, r.connection = true, now
	} else if now != r.connection {
		r.connection = now
		r.restart()
	}
	consumer, err := r.consumer(ctx)
	if err != nil {
		return err
	}
	defer r.drop(consumer)
	before := r.last
	err = r.read(ctx, consumer)
	silent := errors.Is(err, errBehind) || errors.Is(err, jetstream.ErrNoHeartbeat) || errors.Is(err, context.DeadlineExceeded)
	if silent && r.last == before {
		r.vain = min(r.vain+1, patientAfter+maxDoublings-1)
	}
	return err
}

// read handles the messages of a consumer until one is missing or ctx ends.
func (r *streamReader) read(ctx context.Context, consumer jetstream.Consumer) error {
	if err := r.aim(ctx); err != nil {
		return err
	}
	iter, err := consumer.Messages(
		jetstream.PullMaxMessages(readAhead),
		jetstream.PullExpiry(readExpiry),
		jetstream.PullHeartbeat(max(r.within()/2, minHeartbeat)),
		jetstream.WithMessagesErrOnMissingHeartbeat(true),
	)
	if err != nil {
		return bus.Kinded(err)
	}
	defer iter.Stop()
	for delivered := uint64(1); ; delivered++ {
		msg, err := r.next(ctx, iter)
		if err != nil {
			return bus.Kinded(err)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return bus.Kinded(err)
		}
		if meta.Sequence.Consumer != delivered {
			return errLostMessages
		}
		r.last = meta.Sequence.Stream
		r.handle(msg, r.last)
		r.arrive()
	}
}

// restart reads all messages once more. A server that comes back may have lost the tail
// of the stream and given its sequences to other messages, so only their ids tell
// whether they are known.
func (r *streamReader) restart() {
	r.again()
	r.last, r.until, r.reached, r.vain = 0, 0, false, 0
}

// next waits for a message. Until the reader is up to date, it checks now and then
// whether the missing messages still exist, ever less often: the answer can be as large
// as a message, and is behind those on their way. It waits for one such answer in vain.
func (r *streamReader) next(ctx context.Context, iter jetstream.MessagesContext) (jetstream.Msg, error) {
	busy := false
	for quiet := 1; !r.reached; quiet++ {
		try, cancel := context.WithTimeout(ctx, r.within()/maxQuiet)
		msg, err := iter.Next(jetstream.NextContext(try))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return msg, err
		}
		if quiet >= maxQuiet { // each attempt restarts the count of missed heartbeats
			return nil, errBehind
		}
		if busy || quiet&(quiet-1) != 0 {
			continue
		}
		switch err := r.aim(ctx); {
		case err == nil:
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			busy = true
		default:
			return nil, err
		}
	}
	return iter.Next(jetstream.NextContext(ctx))
}

// aim sets until to the newest sequence.
func (r *streamReader) aim(ctx context.Context) error {
	if r.reached {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.within())
	defer cancel()
	until, err := r.newest(ctx)
	if err != nil {
		return err
	}
	r.until = until
	r.arrive()
	return nil
}

func (r *streamReader) arrive() {
	if !r.reached && r.last >= r.until {
		r.reached = true
		r.current(r.connection)
	}
}

func (r *streamReader) consumer(ctx context.Context) (jetstream.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, consumerTimeout)
	defer cancel()
	stream, err := r.bus.JetStream().Stream(ctx, names.RequestStream)
	if err != nil {
		return nil, bus.Kinded(err)
	}
	info := stream.CachedInfo()
	r.lasting = bus.UniqueSequences(info.Config)
	if info.State.LastSeq < r.last {
		// The stream was lost and recreated: its sequences start again.
		r.bus.Logger().Warn("the request stream was recreated", "last", r.last)
		r.restart()
	}
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Name:              "read_" + nats.NewInbox()[len(nats.InboxPrefix):],
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       r.last + 1,
		FilterSubject:     r.filter,
		AckPolicy:         jetstream.AckNonePolicy,
		InactiveThreshold: readIdle,
		MemoryStorage:     true,
		Replicas:          1,
	})
	return consumer, bus.Kinded(err)
}

// drop deletes a consumer if the server is reachable. Otherwise the server deletes
// it after readIdle.
func (r *streamReader) drop(consumer jetstream.Consumer) {
	if !r.bus.Connected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), cancelTry)
	defer cancel()
	_ = r.bus.JetStream().DeleteConsumer(ctx, names.RequestStream, consumer.CachedInfo().Name)
}
