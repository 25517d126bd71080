package queue

import (
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue/wire"
)

// A storedAssignment is an assignment of a request as the stream holds it.
type storedAssignment struct {
	Assignment
	request []byte
}

// Visit implements wire.Message.
func (a *storedAssignment) Visit(c *wire.Codec) {
	a.visitHeader(c)
	c.Raw("request", a.request)
}

// EncodeAssignment returns the JSON of an assignment of a request as the stream
// holds it. The request is copied as it is: prompts may be long. a.Request is
// not used. Errors: Invalid (a.Instance cannot be the instance of a runner).
func EncodeAssignment(request []byte, a Assignment) ([]byte, error) {
	if a.Instance != "" && !bus.IsToken(a.Instance) {
		return nil, fault.Errorf(fault.Invalid, "cannot encode an assignment: %q is no instance of a runner", a.Instance)
	}
	b := make([]byte, 0, len(request)+len(a.Instance)+120)
	return wire.Append(b, &storedAssignment{Assignment: a, request: request})
}
