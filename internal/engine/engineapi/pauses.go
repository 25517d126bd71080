package engineapi

import "time"

const (
	// quickGaps is how many texts in a row have to come fast before the first
	// pause: short answers have none.
	quickGaps = 4
	// worthPieces is how many pieces should come within a pause for it to be
	// worth its delay.
	worthPieces = 2
	// fullPieces is how many pieces at once are enough: an engine that generates
	// as fast is not paused for.
	fullPieces = 64
)

// pauses decides how long to wait between two reads from an engine that
// generates faster than its text is needed: to wake up for each piece would
// cost more than all other work on it.
type pauses struct {
	pace  time.Duration
	quick int // texts in a row that came fast
}

// next returns how long to wait for more, after the given number of pieces came
// together, a gap after those before them.
func (p *pauses) next(gap time.Duration, pieces int) time.Duration {
	if gap > time.Duration(pieces)*p.pace/worthPieces || pieces >= fullPieces {
		p.quick = 0
		return 0
	}
	if p.quick++; p.quick <= quickGaps {
		return 0
	}
	return p.pace
}
