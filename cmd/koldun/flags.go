package main

import (
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// positive returns an Invalid error for a flag that is 0 or less: to the packages
// below the command line, 0 means the default.
func positive[T int | int64 | time.Duration](flag string, value T) error {
	if value <= 0 {
		return fault.Errorf(fault.Invalid, "cannot use --%s=%v: it must be greater than 0", flag, value)
	}
	return nil
}
