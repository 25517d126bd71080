package convert

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// pauses between attempts to read a range. The stores retry single calls
// themselves; these are for connections that break while a range streams.
var pauses = [...]time.Duration{200 * time.Millisecond, time.Second, 5 * time.Second}

// retry repeats work after errors of broken connections. It returns at once on
// other errors and when ctx ends.
func retry(ctx context.Context, work func() error) error {
	err := work()
	for _, pause := range pauses {
		if err == nil || ctx.Err() != nil {
			return err
		}
		if !fault.Is(err, fault.Transient) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		err = work()
	}
	return err
}
