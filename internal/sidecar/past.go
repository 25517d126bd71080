package sidecar

import "time"

const (
	// A gateway that was disconnected for some seconds finds the frames of all
	// attempts that ended in between, even of a fast engine. A slow engine ends
	// few attempts in that time, which are stored longer.
	pastAge = time.Minute
	minPast = 16   // minimum number of stored logs, of any age
	maxPast = 1024 // maximum number of stored logs, each of which has a subscription

	maxPastBytes = 2 * maxLogBytes
	logCost      = 1 << 10 // about what a log takes beside its text, in bytes
	frameCost    = 256     // and a frame
)

// A past stores the frames of ended attempts, which gateways may request again. The
// zero value is ready to use. The runner's mutex guards it.
type past struct {
	kept  []keptLog // oldest first
	bytes int
}

type keptLog struct {
	log   *frameLog
	ended time.Time
	bytes int
}

// add keeps one more, and forgets the oldest in its place if there are too
// many. The newest always stays.
func (p *past) add(l *frameLog, now time.Time) {
	k := keptLog{log: l, ended: now, bytes: l.size()}
	p.kept = append(p.kept, k)
	for p.bytes += k.bytes; len(p.kept) > 1 && p.tooMany(now); {
		p.forget()
	}
}

func (p *past) tooMany(now time.Time) bool {
	n := len(p.kept)
	return n > maxPast || p.bytes > maxPastBytes || n > minPast && now.Sub(p.kept[0].ended) > pastAge
}

// forget ends the serving of the oldest.
func (p *past) forget() {
	oldest := p.kept[0]
	oldest.log.stop()
	p.bytes -= oldest.bytes
	p.kept[0] = keptLog{} // its memory goes now, not with the array's
	p.kept = p.kept[1:]
}

// clear ends the serving of all.
func (p *past) clear() {
	for len(p.kept) > 0 {
		p.forget()
	}
}
