package dispatch

import (
	"cmp"
	"slices"
	"time"
)

// purgeAfter is how long the message of an ended request stays in the stream, so
// that it can be removed together with earlier ones.
const purgeAfter = time.Second

// A purger plans the removal of messages of ended requests from the request
// stream. Each removal costs a call and a disk write, for one message or for all
// messages of a session below a sequence. Requests end nearly in order, so most are
// removed together.
type purger struct {
	messages []message // all messages in the stream up to the last one, ascending
	single   []uint64  // messages to remove one by one
	// unordered means that sequences do not give the order or may be reused.
	unordered bool
}

type message struct {
	seq   uint64
	ended time.Time // zero: not yet
}

// add records a message that was read. The caller must pass all messages of the
// session in order. lasting is as in queue.Entry.
func (s *purger) add(seq uint64, lasting bool) {
	n := len(s.messages)
	if !lasting || n > 0 && seq <= s.messages[n-1].seq { // or the stream was recreated
		s.unordered = true
		s.single = append(s.single, s.due(func(time.Time) bool { return true })...)
		s.messages = nil
	}
	if !s.unordered {
		s.messages = append(s.messages, message{seq: seq})
	}
}

// end records that the request of a message has ended.
func (s *purger) end(seq uint64, now time.Time) {
	i, found := slices.BinarySearchFunc(s.messages, seq, func(m message, seq uint64) int { return cmp.Compare(m.seq, seq) })
	if !found {
		s.single = append(s.single, seq)
		return
	}
	s.messages[i].ended = now
}

// plan takes out the messages to remove now: all messages of the session below a
// sequence, if not 0, and single ones. Unless it is the last plan, it keeps those
// that can soon be removed with others.
func (s *purger) plan(now time.Time, last bool) (below uint64, single []uint64) {
	head := 0
	for head < len(s.messages) && !s.messages[head].ended.IsZero() {
		head++
	}
	if head > 1 {
		below = s.messages[head-1].seq + 1
		s.messages = slices.Delete(s.messages, 0, head)
	}
	s.single = append(s.single, s.due(func(ended time.Time) bool { return last || now.Sub(ended) >= purgeAfter })...)
	single, s.single = s.single, nil
	return below, single
}

// due removes and returns the messages for whose end time is returns true.
func (s *purger) due(is func(ended time.Time) bool) (seqs []uint64) {
	s.messages = slices.DeleteFunc(s.messages, func(m message) bool {
		due := !m.ended.IsZero() && is(m.ended)
		if due {
			seqs = append(seqs, m.seq)
		}
		return due
	})
	return seqs
}
