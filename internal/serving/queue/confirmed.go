package queue

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
)

// confirmed reads the answer to a publish: the sequence of the stored message, or why
// the stream did not store it. Errors: those of JetStream; Transient if the answer does
// not say.
func confirmed(answer []byte, stream string) (uint64, error) {
	if seq, ok := plainSequence(answer, stream); ok {
		return seq, nil
	}
	var ack struct {
		Stream string              `json:"stream"`
		Seq    uint64              `json:"seq"`
		Error  *jetstream.APIError `json:"error"`
	}
	err := json.Unmarshal(answer, &ack)
	switch {
	case err != nil:
		return 0, fault.Errorf(fault.Transient, "cannot decode the answer of stream %q: %w", stream, err)
	case ack.Error != nil:
		return 0, ack.Error
	case ack.Stream != stream || ack.Seq == 0:
		return 0, fault.Errorf(fault.Transient, "what stream %q stored was not confirmed", stream)
	}
	return ack.Seq, nil
}

// plainSequence reads a confirmation exactly as servers without a JetStream domain write
// it, with a space or, of late, without one. It saves the decoding of nearly all answers.
func plainSequence(answer []byte, stream string) (uint64, bool) {
	rest, ok := bytes.CutPrefix(answer, []byte(`{"stream":"`))
	if !ok || len(rest) < len(stream) || string(rest[:len(stream)]) != stream {
		return 0, false
	}
	rest, ok = bytes.CutPrefix(rest[len(stream):], []byte(`",`))
	if !ok {
		return 0, false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimPrefix(rest, []byte(" ")), []byte(`"seq":`))
	if !ok {
		return 0, false
	}
	digits, ok := bytes.CutSuffix(rest, []byte("}"))
	if !ok {
		return 0, false
	}
	seq, err := strconv.ParseUint(string(digits), 10, 64)
	return seq, err == nil && seq > 0
}
