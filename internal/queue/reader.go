package queue

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
)

const (
	readHeartbeat = time.Second      // a silent server is noticed after two of these
	readExpiry    = 10 * time.Second // of one pull
	readIdle      = time.Minute      // after which the server forgets a reader
	readAhead     = 500              // messages fetched before they are handled

	// readQuiet is how long a reader that has not read all that was there goes
	// without a message before it asks whether more is to come.
	readQuiet = 250 * time.Millisecond
	maxQuiet  = int(2 * readHeartbeat / readQuiet) // such times on end
)

var (
	errLostMessages = errors.New("messages were lost on the way")
	errBehind       = errors.New("the server that is read from lags behind or is silent")
)

// A streamReader reads the request stream in order, from the start and across
// losses of the connection, by short-lived consumers in the server's memory
// of which each goes on after the last message of the one before. (The
// client library's ordered consumer waits up to ten seconds between its tries
// and cannot be interrupted then.)
type streamReader struct {
	queue   *Queue
	filter  string
	handle  func(msg jetstream.Msg, seq uint64)
	reached func() // called when all that was there has been handled, and nil from then on
	// newest tells the sequence of the last message there is, 0 for none, as
	// the leader of the stream knows it. A reader's consumer lives on any of
	// the stream's servers, which may not have all messages yet, so its own
	// count of those to come says nothing.
	newest func(ctx context.Context) (uint64, error)

	last    uint64 // stream sequence
	until   uint64 // all that was there has been handled when last is this
	lasting bool   // no sequence of the stream is ever given out again
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
		r.queue.log.Debug("reading the request stream anew", "after", r.last, "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(bus.Backoff(attempt)):
		}
	}
}

func (r *streamReader) once(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reconnected := r.queue.bus.Reconnected()
	go func() {
		select {
		case <-reconnected:
			cancel()
		case <-ctx.Done():
		}
	}()
	consumer, err := r.consumer(ctx)
	if err != nil {
		return err
	}
	defer r.drop(consumer)
	if err := r.aim(ctx); err != nil {
		return err
	}
	iter, err := consumer.Messages(
		jetstream.PullMaxMessages(readAhead),
		jetstream.PullExpiry(readExpiry),
		jetstream.PullHeartbeat(readHeartbeat),
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

// next waits for a message. As long as not all is read that was there it looks
// now and then whether that is still to come: it may have been deleted.
func (r *streamReader) next(ctx context.Context, iter jetstream.MessagesContext) (jetstream.Msg, error) {
	for quiet := 1; r.reached != nil; quiet++ {
		try, cancel := context.WithTimeout(ctx, readQuiet)
		msg, err := iter.Next(jetstream.NextContext(try))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return msg, err
		}
		if quiet >= maxQuiet { // each try begins to count missed heartbeats anew
			return nil, errBehind
		}
		if err := r.aim(ctx); err != nil {
			return nil, err
		}
	}
	return iter.Next(jetstream.NextContext(ctx))
}

// aim learns how far to read until all is read that is there now.
func (r *streamReader) aim(ctx context.Context) error {
	if r.reached == nil {
		return nil
	}
	until, err := r.newest(ctx)
	if err != nil {
		return err
	}
	r.until = until
	r.arrive()
	return nil
}

func (r *streamReader) arrive() {
	if r.reached != nil && r.last >= r.until {
		r.reached()
		r.reached = nil
	}
}

func (r *streamReader) consumer(ctx context.Context) (jetstream.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, consumerTimeout)
	defer cancel()
	stream, err := r.queue.bus.JetStream().Stream(ctx, names.RequestStream)
	if err != nil {
		return nil, bus.Kinded(err)
	}
	info := stream.CachedInfo()
	r.lasting = bus.UniqueSequences(info.Config)
	if info.State.LastSeq < r.last {
		// The stream was lost and made anew: its sequences begin again.
		r.queue.log.Warn("the request stream has begun anew", "last", r.last)
		r.last = 0
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

// drop frees a consumer at once if the server can be reached; otherwise the
// server forgets it after a while.
func (r *streamReader) drop(consumer jetstream.Consumer) {
	if !r.queue.bus.Connected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), cancelTry)
	defer cancel()
	_ = r.queue.bus.JetStream().DeleteConsumer(ctx, names.RequestStream, consumer.CachedInfo().Name)
}
