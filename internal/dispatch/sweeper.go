package dispatch

import (
	"cmp"
	"slices"
	"time"
)

// sweepAfter is how long a message of a request that has ended stays in the
// stream so that it may be removed together with those before it.
const sweepAfter = time.Second

// A sweeper plans how the messages of requests that have ended leave the
// request stream. Each removal costs the server a call, and a write that
// reaches its disk, whether it removes one message or all those of a session
// below a sequence. Requests end nearly in the order they came, so most leave
// together.
type sweeper struct {
	told []message // that are in the stream, ascending; all there are up to the last
	lone []uint64  // to be removed one by one
	// single: sequences say nothing of the order, or another message may get
	// the same one.
	single bool
}

type message struct {
	seq   uint64
	ended time.Time // zero: not yet
}

// tell notes that the reader has come to a message. All of the session are told,
// in their order. lasting is as in bus.Entry.
func (s *sweeper) tell(seq uint64, lasting bool) {
	n := len(s.told)
	if !lasting || n > 0 && seq <= s.told[n-1].seq { // or the stream has begun anew
		s.single = true
		s.lone = append(s.lone, s.due(func(time.Time) bool { return true })...)
		s.told = nil
	}
	if !s.single {
		s.told = append(s.told, message{seq: seq})
	}
}

// end notes that a message is to be removed.
func (s *sweeper) end(seq uint64, now time.Time) {
	i, found := slices.BinarySearchFunc(s.told, seq, func(m message, seq uint64) int { return cmp.Compare(m.seq, seq) })
	if !found {
		s.lone = append(s.lone, seq)
		return
	}
	s.told[i].ended = now
}

// plan takes out what is to be removed now: all messages of the session below a
// sequence, if that is not 0, and some one by one. It leaves those that may soon
// be removed with others, unless it is the last plan.
func (s *sweeper) plan(now time.Time, last bool) (below uint64, lone []uint64) {
	head := 0
	for head < len(s.told) && !s.told[head].ended.IsZero() {
		head++
	}
	if head > 1 {
		below = s.told[head-1].seq + 1
		s.told = slices.Delete(s.told, 0, head)
	}
	s.lone = append(s.lone, s.due(func(ended time.Time) bool { return last || now.Sub(ended) >= sweepAfter })...)
	lone, s.lone = s.lone, nil
	return below, lone
}

// due takes out the messages that have ended at a time which is.
func (s *sweeper) due(is func(ended time.Time) bool) (seqs []uint64) {
	s.told = slices.DeleteFunc(s.told, func(m message) bool {
		due := !m.ended.IsZero() && is(m.ended)
		if due {
			seqs = append(seqs, m.seq)
		}
		return due
	})
	return seqs
}
