package sidecar

import "time"

const (
	// A gateway that was disconnected for some seconds finds the frames of all
	// attempts that ended in between, even of a fast engine. A slow engine ends
	// few attempts in that time, which are stored longer.
	maxEndedAge  = time.Minute
	minEndedLogs = 16   // minimum number of stored logs, of any age
	maxEndedLogs = 1024 // maximum number of stored logs

	maxEndedBytes = 2 * maxLogBytes
)

// endedLogs stores the frame logs of ended attempts, because gateways may request their
// frames again. The zero value is ready to use. The mutex of frameLogs guards it.
type endedLogs struct {
	kept  []keptLog // oldest first
	bytes int
}

type keptLog struct {
	log   *frameLog
	ended time.Time
	bytes int
}

// add stores a log, and returns the oldest logs that exceed the limits, which it has
// dropped. The newest log always stays.
func (p *endedLogs) add(l *frameLog, now time.Time) (dropped []*frameLog) {
	k := keptLog{log: l, ended: now, bytes: l.size()}
	p.kept = append(p.kept, k)
	for p.bytes += k.bytes; len(p.kept) > 1 && p.tooMany(now); {
		dropped = append(dropped, p.dropOldest())
	}
	return dropped
}

func (p *endedLogs) tooMany(now time.Time) bool {
	n := len(p.kept)
	return n > maxEndedLogs || p.bytes > maxEndedBytes || n > minEndedLogs && now.Sub(p.kept[0].ended) > maxEndedAge
}

// dropOldest removes and returns the oldest log.
func (p *endedLogs) dropOldest() *frameLog {
	oldest := p.kept[0]
	p.bytes -= oldest.bytes
	p.kept[0] = keptLog{} // release its memory before the array's
	p.kept = p.kept[1:]
	return oldest.log
}
