package engineapi

import (
	"time"

	"github.com/gorizond/koldun/internal/rawconn"
)

const (
	// quickGaps is how many pieces have to come fast, one after the other,
	// before the next ones are awaited together: short answers never wait.
	quickGaps = 4
	// worthPieces is how many pieces should come within a pause for it to be
	// worth its delay.
	worthPieces = 2
	// fullBreath is how many pieces at once are enough: whoever generates as
	// fast as that is not slowed down.
	fullBreath = 64
)

// A breath is the pause between two looks at an engine that generates faster
// than its text is wanted: to wake for each piece would cost more than all else
// that is done about it.
type breath struct {
	pace  time.Duration
	quick int
}

// after says how long to wait for more, when so many pieces came together and
// so long after those before.
func (b *breath) after(gap time.Duration, pieces int) time.Duration {
	if gap > time.Duration(pieces)*b.pace/worthPieces || pieces >= fullBreath {
		b.quick = 0
		return 0
	}
	if b.quick++; b.quick <= quickGaps {
		return 0
	}
	return b.pace
}

// rest waits without being woken by what comes meanwhile. It is short, so the
// end of the request does not end it.
func (x *exchange) rest(d time.Duration) {
	if d <= 0 {
		return
	}
	rawconn.SetLowWater(x.conn, readSize/2)
	time.Sleep(d)
	rawconn.SetLowWater(x.conn, 1)
}
