package bus

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/network/linklocal"
)

// CodeStoreFailed is JetStream's error code for a message over a limit of the
// stream; only the description names the limit.
const CodeStoreFailed jetstream.ErrorCode = 10077

// codeStorage are JetStream's error codes for exhausted storage or a refused
// reservation (insufficient resources, account or server storage).
var codeStorage = map[jetstream.ErrorCode]bool{10023: true, 10047: true, 10002: true, 10028: true}

// codeInProcess is JetStream's error code for a message that an earlier attempt
// is still storing.
const codeInProcess jetstream.ErrorCode = 10158

// Kinded adds the fault kind to an error of the NATS client. Callers of Conn and
// JetStream use it. Kinded(nil) is nil.
func Kinded(err error) error {
	if err == nil {
		return nil
	}
	var api *jetstream.APIError
	var local linklocal.Error
	switch {
	case errors.As(err, &local):
		return fault.As(fault.Invalid, local)
	case errors.Is(err, context.Canceled):
		return fault.As(fault.Interrupted, err)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired),
		errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrPermissionViolation):
		return fault.As(fault.Denied, err)
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, jetstream.ErrStreamMessageExceedsMaximum):
		return fault.As(fault.Invalid, err)
	case errors.Is(err, jetstream.ErrKeyExists), errors.Is(err, jetstream.ErrKeyRevisionMismatch):
		return fault.As(fault.Conflict, err)
	case errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrMsgNotFound),
		errors.Is(err, jetstream.ErrBucketNotFound), errors.Is(err, jetstream.ErrStreamNotFound):
		return fault.As(fault.NotFound, err)
	case errors.Is(err, jetstream.ErrInvalidKey), errors.Is(err, jetstream.ErrInvalidSubject),
		errors.Is(err, jetstream.ErrInvalidStreamName), errors.Is(err, jetstream.ErrStreamNameRequired),
		errors.Is(err, jetstream.ErrInvalidBucketName), errors.Is(err, nats.ErrBadSubject):
		return fault.As(fault.Invalid, err)
	case errors.As(err, &api):
		return fault.As(apiKind(api), err)
	}
	// The rest are lost connections, unresponsive servers and streams without a
	// leader, which are all transient.
	return fault.As(fault.Transient, err)
}

func apiKind(api *jetstream.APIError) fault.Kind {
	switch {
	case api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence,
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant,
		api.ErrorCode == jetstream.JSErrCodeStreamNameInUse:
		return fault.Conflict
	case api.ErrorCode == CodeStoreFailed, codeStorage[api.ErrorCode]:
		return fault.Quota
	case api.Code == 404:
		return fault.NotFound
	case api.Code >= 500, api.ErrorCode == codeInProcess:
		return fault.Transient
	case api.Code >= 400:
		return fault.Invalid
	}
	return fault.Internal
}
