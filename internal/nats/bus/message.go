package bus

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// A Message encodes and decodes its own JSON. Other values use encoding/json.
type Message interface {
	EncodeMessage() ([]byte, error)
	DecodeMessage(data []byte) error
}

func encode(v any) ([]byte, error) {
	if m, ok := v.(Message); ok {
		return m.EncodeMessage()
	}
	return json.Marshal(v)
}

// decode decodes JSON into the value that v points to.
func decode(data []byte, v any) error {
	if m, ok := v.(Message); ok {
		return m.DecodeMessage(data)
	}
	return json.Unmarshal(data, v)
}

// messages are what a process sends on a connection.
type messages struct {
	conn *connection
	asks asks
}

// Send publishes v, or the value that v points to, as JSON, without waiting for
// delivery. While the connection is lost it buffers messages up to a limit.
// Messages of one Bus arrive in order.
func (m *messages) Send(subject string, v any) error {
	data, err := encode(v)
	if err != nil {
		return fault.Errorf(fault.Internal, "cannot encode a message for %q: %w", subject, err)
	}
	if err := m.conn.nc.Publish(subject, data); err != nil {
		return fault.Errorf(fault.KindOf(Kinded(err)), "cannot publish on %q: %w", subject, err)
	}
	return nil
}

// Call sends v, or the value that v points to, and waits for one answer. Errors:
// NotFound without a subscriber, so the message was not delivered; Transient
// without an answer, so it may have been delivered; Denied if the user may not
// publish on the subject; Interrupted if ctx was cancelled.
func Call[A any](ctx context.Context, b *Bus, subject string, v any) (A, error) {
	var answer A
	data, err := encode(v)
	if err != nil {
		return answer, fault.Errorf(fault.Internal, "cannot encode a message for %q: %w", subject, err)
	}
	msg, err := b.Request(ctx, subject, data)
	if err != nil {
		return answer, callError(subject, err)
	}
	return answer, decodeAnswer(subject, msg, &answer)
}

// Request publishes data and waits for one answer. Its errors are those of the client library.
func (m *messages) Request(ctx context.Context, subject string, data []byte) (*nats.Msg, error) {
	return permitted(ctx, &m.conn.permits, subject, func(ctx context.Context) (*nats.Msg, error) {
		return m.conn.nc.RequestWithContext(ctx, subject, data)
	})
}

func decodeAnswer[A any](subject string, msg *nats.Msg, answer *A) error {
	if err := decode(msg.Data, answer); err != nil {
		return fault.Errorf(fault.Corrupt, "cannot decode the answer on %q: %w", subject, err)
	}
	return nil
}

func callError(subject string, err error) error {
	kind := fault.KindOf(Kinded(err))
	if errors.Is(err, nats.ErrNoResponders) {
		kind = fault.NotFound
	}
	return fault.Errorf(kind, "cannot get an answer on %q: %w", subject, err)
}

// Serve answers messages on a subject (wildcards allowed) in sequence. handle gets
// the subject and the decoded message, and returns the answer, or ok = false for
// none. It must not block for long. Serve drops messages that it cannot decode.
// stop ends it without waiting.
func Serve[Q, A any](b *Bus, subject string, handle func(subject string, q Q) (answer A, ok bool)) (stop func(), err error) {
	return ServeLater(b, subject, func(subject string, q Q, reply func(A)) {
		if answer, ok := handle(subject, q); ok {
			reply(answer)
		}
	})
}

// ServeLater is like Serve for asynchronous answers: handle may call reply once,
// from any goroutine, or never.
func ServeLater[Q, A any](b *Bus, subject string, handle func(subject string, q Q, reply func(A))) (stop func(), err error) {
	sub, err := b.nc.Subscribe(subject, func(m *nats.Msg) {
		var q Q
		if len(m.Data) > 0 {
			if err := decode(m.Data, &q); err != nil {
				b.log.Warn("cannot decode a message", "subject", m.Subject, "error", err)
				return
			}
		}
		handle(m.Subject, q, func(answer A) {
			if !isInbox(m.Reply) {
				return
			}
			if err := b.Send(m.Reply, &answer); err != nil {
				b.log.Warn("cannot answer a message", "subject", m.Subject, "error", err)
			}
		})
	})
	if err != nil {
		return nil, fault.Errorf(fault.KindOf(Kinded(err)), "cannot subscribe to %q: %w", subject, err)
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// isInbox reports whether a reply subject may get an answer. NATS does not check whether the
// sender may publish to it: an answer to a subject that means something, such as
// $JS.API.STREAM.PURGE.X, would do with our rights what the sender may not.
func isInbox(reply string) bool {
	return reply != "" && !strings.HasPrefix(reply, "$") && !strings.HasPrefix(reply, names.SubjectPrefix)
}

// Listen is like Serve for messages without an answer.
func Listen[Q any](b *Bus, subject string, handle func(subject string, q Q)) (stop func(), err error) {
	return ServeLater(b, subject, func(subject string, q Q, _ func(struct{})) { handle(subject, q) })
}
