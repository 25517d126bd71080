// Package fault classifies errors by what the reader can do about them.
//
// A kind is chosen where the cause is known (an HTTP status, an S3 error code,
// a parser) and survives wrapping; the edges turn it into an exit status, an
// HTTP status or a condition reason.
package fault

import (
	"context"
	"errors"
	"fmt"
)

// A Kind is the class of remedy that an error needs.
type Kind string

// The kinds. An error without a kind is Internal.
const (
	Internal    Kind = "Internal"    // a defect of ours, or unforeseen
	Invalid     Kind = "Invalid"     // the input is wrong: correct it and try again
	Unsupported Kind = "Unsupported" // the input is well formed, but nothing here can handle it
	Denied      Kind = "Denied"      // credentials are missing, wrong or not sufficient
	NotFound    Kind = "NotFound"    // the named thing does not exist
	Quota       Kind = "Quota"       // a disk, bucket or account is full
	Corrupt     Kind = "Corrupt"     // bytes do not match their size, digest or format
	Conflict    Kind = "Conflict"    // another owner holds the thing, or changed it
	Transient   Kind = "Transient"   // trying again later may succeed
	Interrupted Kind = "Interrupted" // the caller asked to stop
)

type kinded struct {
	kind Kind
	err  error
}

func (k *kinded) Error() string { return k.err.Error() }
func (k *kinded) Unwrap() error { return k.err }

// Errorf is fmt.Errorf with a kind.
func Errorf(kind Kind, format string, args ...any) error {
	return &kinded{kind: kind, err: fmt.Errorf(format, args...)}
}

// As gives err a kind without changing its text. As(k, nil) is nil.
func As(kind Kind, err error) error {
	if err == nil {
		return nil
	}
	return &kinded{kind: kind, err: err}
}

// KindOf returns the outermost kind in err's chain. An error without a kind is
// Interrupted if its chain holds context.Canceled, Transient if it holds
// context.DeadlineExceeded, and Internal otherwise. KindOf(nil) is "".
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	var k *kinded
	if errors.As(err, &k) {
		return k.kind
	}
	if errors.Is(err, context.Canceled) {
		return Interrupted
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return Transient
	}
	return Internal
}

// Is reports whether err is of the kind.
func Is(err error, kind Kind) bool { return KindOf(err) == kind }

// UnlessStopped returns err, or nil if ctx has been cancelled: a server that is
// stopped before it could start has not failed.
func UnlessStopped(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return err
}

// ExitCode returns the exit status of a process that ends with err. The
// podFailurePolicy of Jobs reads it: 0 success, 1 internal, 10 invalid input or
// unsupported, 11 denied, 12 not found, 13 quota, 14 corrupt, 15 conflict,
// 75 transient (EX_TEMPFAIL of sysexits.h), 130 interrupted.
func ExitCode(err error) int {
	switch KindOf(err) {
	case "":
		return 0
	case Invalid, Unsupported:
		return 10
	case Denied:
		return 11
	case NotFound:
		return 12
	case Quota:
		return 13
	case Corrupt:
		return 14
	case Conflict:
		return 15
	case Transient:
		return 75
	case Interrupted:
		return 130
	}
	return 1
}

// Final reports whether another attempt cannot succeed.
func Final(err error) bool {
	switch KindOf(err) {
	case Invalid, Unsupported, Denied, NotFound, Quota, Corrupt, Conflict:
		return true
	}
	return false
}
