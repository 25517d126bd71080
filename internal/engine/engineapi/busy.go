package engineapi

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// ErrBusy means that a server refuses a request for now: it has no room, or its account has
// used up what it may for some time. Another server may take the request.
var ErrBusy = errors.New("the server is busy")

// A BusyError is an ErrBusy with what the server said.
type BusyError struct {
	Status     int           // 429 or 503
	Message    string        // the server's own
	RetryAfter time.Duration // when to ask again; 0: it did not say
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%v (%d): %s", ErrBusy, e.Status, e.Message)
}

// Is makes errors.Is find ErrBusy.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// retryAfter reads the header of RFC 9110, section 10.2.3, and Retry-After-Ms, which some
// servers send beside it. What is in neither form counts as absent.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < maxRetryAfter.Seconds()*1000 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		if seconds > 0 { // and no NaN
			return time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
		}
		return 0
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// maxRetryAfter bounds what a server may ask for: a longer time is no more use to a client.
const maxRetryAfter = 24 * time.Hour
