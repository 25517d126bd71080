package bus

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
)

// newestTry bounds one question: a stream that is electing a leader does not
// answer, and whoever asks should soon ask again.
const newestTry = 2 * time.Second

// newest is the sequence of the last request whose subject the filter matches,
// 0 if there is none, as the stream's leader knows it.
func (b *Bus) newest(ctx context.Context, filter string) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, newestTry)
	defer cancel()
	msg, err := b.queued(ctx, queuedQuestion{LastBySubject: filter})
	if errors.Is(err, errNoMessage) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot ask for the newest request: %w", err)
	}
	return msg.Sequence, nil
}

// errNoMessage says that nothing matches a queuedQuestion.
var errNoMessage = errors.New("there is no such message")

// A queuedQuestion is what STREAM.MSG.GET of the JetStream API is asked: for the
// last message of a filter, or for the next from a sequence on.
type queuedQuestion struct {
	Seq           uint64 `json:"seq,omitempty"`
	NextBySubject string `json:"next_by_subj,omitempty"`
	LastBySubject string `json:"last_by_subj,omitempty"`
}

// A queuedMessage is the answer, without what was asked by the client.
type queuedMessage struct {
	Sequence uint64    `json:"seq"`
	Header   []byte    `json:"hdrs"`
	Time     time.Time `json:"time"`
}

// id is that of the request.
func (m queuedMessage) id() string {
	header, err := nats.DecodeHeadersMsg(m.Header)
	if err != nil {
		return ""
	}
	return header.Get(jetstream.MsgIDHeader)
}

// queued reads a message of the request stream from the stream's leader. The
// client library would ask any server that has a copy, which may lag behind,
// because the stream allows direct reads. Errors: errNoMessage, NotFound (no
// stream), Transient.
func (b *Bus) queued(ctx context.Context, q queuedQuestion) (queuedMessage, error) {
	data, err := json.Marshal(q)
	if err != nil {
		return queuedMessage{}, fault.As(fault.Internal, err)
	}
	msg, err := b.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+names.RequestStream, data)
	if err != nil {
		return queuedMessage{}, kinded(err)
	}
	var answer struct {
		Message queuedMessage       `json:"message"`
		Error   *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(msg.Data, &answer); err != nil {
		return queuedMessage{}, fault.As(fault.Corrupt, err)
	}
	switch {
	case answer.Error == nil:
		return answer.Message, nil
	case answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return queuedMessage{}, errNoMessage
	default:
		return queuedMessage{}, kinded(answer.Error)
	}
}
