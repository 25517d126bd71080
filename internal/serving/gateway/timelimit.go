package gateway

import (
	"strconv"
	"time"
)

// maxTimeLimit is longer than any request stays in the queue.
const maxTimeLimit = 24 * time.Hour

// timeLimit returns how long a request may take from its arrival to its end: what its
// header asks for, up to what the gateway allows. 0 is no limit.
func timeLimit(header string, most time.Duration) (time.Duration, *refusal) {
	if header == "" {
		return most, nil
	}
	wanted, ok := parseTimeLimit(header)
	if !ok {
		return 0, errNoTimeLimit()
	}
	if most > 0 {
		wanted = min(wanted, most)
	}
	return wanted, nil
}

// parseTimeLimit reads seconds, such as 2.5, or a duration, such as 1m30s.
func parseTimeLimit(header string) (limit time.Duration, ok bool) {
	if seconds, err := strconv.ParseFloat(header, 64); err == nil {
		limit = maxTimeLimit
		if seconds < maxTimeLimit.Seconds() {
			limit = time.Duration(seconds * float64(time.Second))
		}
		return limit, seconds > 0 && limit > 0 // it is not a number, or rounds to 0
	}
	limit, err := time.ParseDuration(header)
	return min(limit, maxTimeLimit), err == nil && limit > 0
}
