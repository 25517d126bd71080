package main

import (
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// positive refuses a flag that is 0 or less: to what lies below the command
// line, 0 says that nothing was said. Errors: Invalid.
func positive[T int | int64 | time.Duration](flag string, value T) error {
	if value <= 0 {
		return fault.Errorf(fault.Invalid, "cannot use --%s=%v: it must be more than 0", flag, value)
	}
	return nil
}
