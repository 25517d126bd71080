package dispatch

import (
	"cmp"
	"slices"
	"time"
)

// sweepAfter is how long the message of an ended request stays in the stream, so
// that it can be removed together with earlier ones.
const sweepAfter = time.Second

// A sweeper plans the removal of messages of ended requests from the request
// stream. Each removal costs a call and a disk write, for one message or for all
// messages of a session below a sequence. Requests end nearly in order, so most are
// removed together.
type sweeper struct {
	told []message // all messages in the stream up to the last one, ascending
	lone []uint64  // messages to remove one by one
	// single means that sequences do not give the order or may be reused.
	single bool
}

type message struct {
	seq   uint64
	ended time.Time // zero: not yet
}

// tell records a message that was read. The caller must pass all messages of the
// session in order. lasting is as in queue.Entry.
func (s *sweeper) tell(seq uint64, lasting bool) {
	n := len(s.told)
	if !lasting || n > 0 && seq <= s.told[n-1].seq { // or the stream was recreated
		s.single = true
		s.lone = append(s.lone, s.due(func(time.Time) bool { return true })...)
		s.told = nil
	}
	if !s.single {
		s.told = append(s.told, message{seq: seq})
	}
}

// end records that the request of a message has ended.
func (s *sweeper) end(seq uint64, now time.Time) {
	i, found := slices.BinarySearchFunc(s.told, seq, func(m message, seq uint64) int { return cmp.Compare(m.seq, seq) })
	if !found {
		s.lone = append(s.lone, seq)
		return
	}
	s.told[i].ended = now
}

// plan takes out the messages to remove now: all messages of the session below a
// sequence, if not 0, and single ones. Unless it is the last plan, it keeps those
// that can soon be removed with others.
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

// due removes and returns the messages for whose end time is returns true.
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
