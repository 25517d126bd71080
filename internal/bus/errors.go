package bus

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
)

// Errors of PublishRequest that callers answer differently.
var (
	// ErrQueueFull: the request stream is full for all.
	ErrQueueFull = errors.New("the queue is full")
	// ErrTenantFull: this tenant has as many requests in this session as it may.
	ErrTenantFull = errors.New("too many requests of this tenant are waiting")
)

// codeStoreFailed is JetStream's error code for a message that a limit of the
// stream refused; only the description tells which.
const codeStoreFailed jetstream.ErrorCode = 10077

// codeStorage are JetStream's error codes for storage that is used up or that
// a stream may not reserve (insufficient resources, account or server storage).
var codeStorage = map[jetstream.ErrorCode]bool{10023: true, 10047: true, 10002: true, 10028: true}

// codeInProcess is JetStream's error code for a message of which an earlier try
// is still being stored.
const codeInProcess jetstream.ErrorCode = 10158

// Kinded gives an error of the NATS client its fault kind, for those who use
// Conn or JetStream. Kinded(nil) is nil.
func Kinded(err error) error { return kinded(err) }

// kinded gives an error of the NATS client its fault kind.
func kinded(err error) error {
	if err == nil {
		return nil
	}
	var api *jetstream.APIError
	switch {
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
	// What remains is a connection that is gone, a server that does not answer
	// or a stream without a leader: all may pass.
	return fault.As(fault.Transient, err)
}

func apiKind(api *jetstream.APIError) fault.Kind {
	switch {
	case api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence,
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant,
		api.ErrorCode == jetstream.JSErrCodeStreamNameInUse:
		return fault.Conflict
	case api.ErrorCode == codeStoreFailed, codeStorage[api.ErrorCode]:
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

// isGone reports whether a message could not be deleted because it is not there.
// The client library turns what the server says into text; a server that is
// stopping ("store is closed") or has another leader by now says other things.
func isGone(err error) bool {
	return errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) && slices.ContainsFunc(
		[]string{"err_code=10043 ", "no message found", "stream store EOF"},
		func(said string) bool { return strings.Contains(err.Error(), said) })
}

// queueFull tells the limits of the request stream apart.
func queueFull(err error) error {
	var api *jetstream.APIError
	if !errors.As(err, &api) || api.ErrorCode != codeStoreFailed {
		return nil
	}
	if strings.Contains(api.Description, "per subject") {
		return fault.As(fault.Quota, ErrTenantFull)
	}
	return fault.As(fault.Quota, ErrQueueFull)
}
