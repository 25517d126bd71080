package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// newest returns the sequence of the last request whose subject matches the filter,
// by the stream's leader, or 0. The answer has the whole request. A stream without a
// leader does not answer.
func (s requests) newest(ctx context.Context, filter string) (uint64, error) {
	msg, err := s.getMessage(ctx, messageQuery{LastBySubject: filter})
	if errors.Is(err, errNoMessage) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot ask for the newest request: %w", err)
	}
	return msg.Sequence, nil
}

// errNoMessage: no message matches a messageQuery.
var errNoMessage = errors.New("there is no such message")

// A messageQuery is the request of STREAM.MSG.GET of the JetStream API: the last
// message of a filter, or the next one from a sequence on.
type messageQuery struct {
	Seq           uint64 `json:"seq,omitempty"`
	NextBySubject string `json:"next_by_subj,omitempty"`
	LastBySubject string `json:"last_by_subj,omitempty"`
}

// A storedMessage is the used part of the answer.
type storedMessage struct {
	Sequence uint64    `json:"seq"`
	Header   []byte    `json:"hdrs"`
	Time     time.Time `json:"time"`
}

// id returns the id of the request.
func (m storedMessage) id() string {
	header, err := nats.DecodeHeadersMsg(m.Header)
	if err != nil {
		return ""
	}
	return header.Get(jetstream.MsgIDHeader)
}

// getMessage reads a message of the request stream from the stream's leader. The
// client library would use a direct read, which a lagging replica may answer.
// Errors: errNoMessage, NotFound (no stream), Denied, Transient.
func (s requests) getMessage(ctx context.Context, query messageQuery) (storedMessage, error) {
	data, err := json.Marshal(query)
	if err != nil {
		return storedMessage{}, fault.As(fault.Internal, err)
	}
	msg, err := s.streams.bus.Request(ctx, "$JS.API.STREAM.MSG.GET."+names.RequestStream, data)
	if err != nil {
		return storedMessage{}, bus.Kinded(err)
	}
	var answer struct {
		Message storedMessage       `json:"message"`
		Error   *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(msg.Data, &answer); err != nil {
		return storedMessage{}, fault.As(fault.Corrupt, err)
	}
	switch {
	case answer.Error == nil:
		return answer.Message, nil
	case answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return storedMessage{}, errNoMessage
	default:
		return storedMessage{}, bus.Kinded(answer.Error)
	}
}
