package dispatch

import (
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// A peer is the leader's state of a runner.
type peer struct {
	rec      queue.Runner
	capacity int       // of the instance, which cannot change it
	busy     int       // slots in use, from the runner's last message
	synced   bool      // whether it has answered a sync of this epoch
	syncing  bool      // whether a sync is in progress
	absent   bool      // its record has expired or was removed: it is lost unless it answers
	seq      uint64    // counts the leader's messages to it
	blocked  time.Time // time of the next offer
	// operations are those that the runner serves; the slice does not change.
	operations []openai.Operation
	// slots are as many as the runner has. There are more only while it holds
	// attempts of an earlier leader beside those of this one.
	slots []peerSlot
}

// A peerSlot is one of the requests that a runner computes at the same time.
type peerSlot struct {
	job      string // id of the request that the runner has or may have; "" for none
	pending  bool   // the runner has not been heard to accept it
	affinity string // conversation in its prompt cache
}

func newPeer(rec queue.Runner) *peer {
	p := &peer{capacity: rec.Capacity(), slots: make([]peerSlot, rec.Capacity())}
	p.setRecord(rec)
	return p
}

// setRecord replaces the state of the runner by a record.
func (p *peer) setRecord(rec queue.Runner) {
	p.rec = rec
	if p.operations = rec.Operations; len(p.operations) == 0 {
		p.operations = openai.DefaultOperations()
	}
	p.setBusy(rec.Status())
}

// setStatus applies a status from a runner's message, unless it is older than the
// known one.
func (p *peer) setStatus(s queue.RunnerStatus) {
	if s.Instance != p.rec.Instance || s.Version < p.rec.Version {
		return
	}
	p.rec.Version, p.rec.State, p.rec.Affinity, p.rec.Affinities = s.Version, s.State, s.Affinity, s.Affinities
	p.setBusy(s)
}

func (p *peer) setBusy(s queue.RunnerStatus) {
	switch {
	case p.capacity > 1:
		p.busy = s.Busy
	case s.State == queue.RunnerIdle:
		p.busy = 0
	default:
		p.busy = 1
	}
}

// slot returns the index of the slot that has a job, or -1.
func (p *peer) slot(job string) int {
	return slices.IndexFunc(p.slots, func(s peerSlot) bool { return s.job == job })
}

// forgetHeld removes the attempts at a job from the record. It leaves the
// record's own list as it is: others may read that.
func (p *peer) forgetHeld(job string) {
	is := func(h queue.HeldAttempt) bool { return h.Request.ID == job }
	if slices.ContainsFunc(p.rec.Held, is) {
		p.rec.Held = slices.DeleteFunc(slices.Clone(p.rec.Held), is)
	}
}

// has reports whether the runner has or may have a job.
func (p *peer) has(job string) bool { return p.slot(job) >= 0 }

// idle reports whether the runner has no known job.
func (p *peer) idle() bool {
	return len(p.rec.Held) == 0 && !slices.ContainsFunc(p.slots, func(s peerSlot) bool { return s.job != "" })
}

// offered records that a job was offered to a slot of the runner.
func (p *peer) offered(j *job, slot int) {
	p.slots[slot] = peerSlot{job: j.req.ID, pending: true, affinity: j.req.Affinity}
}

// accepted records that the runner has a job, in any slot.
func (p *peer) accepted(j *job) {
	i := p.slot(j.req.ID)
	if i < 0 {
		i = p.slot("")
	}
	if i < 0 {
		i = len(p.slots)
		p.slots = append(p.slots, peerSlot{})
	}
	p.slots[i] = peerSlot{job: j.req.ID, affinity: j.req.Affinity}
}

// drop records that the runner no longer has a job, and reports whether it had it.
func (p *peer) drop(job string) bool {
	i := p.slot(job)
	if i < 0 {
		return false
	}
	p.slots[i].job, p.slots[i].pending = "", false
	for n := len(p.slots); n > p.capacity && p.slots[n-1].job == ""; n-- {
		p.slots = p.slots[:n-1]
	}
	return true
}

// serves reports whether the runner accepts jobs, now or when a slot becomes free.
// One that has not answered does, until its record says otherwise or expires:
// fallbacks must not take its jobs because one answer was lost.
func (p *peer) serves() bool {
	return !p.absent && (p.rec.State == queue.RunnerIdle || p.rec.State == queue.RunnerBusy)
}

// free returns how many more jobs the runner can be given. What it says of
// itself may lack the jobs that were offered to it since.
func (p *peer) free() int {
	known, pending := 0, 0
	for _, s := range p.slots {
		if s.job != "" {
			known++
		}
		if s.pending {
			pending++
		}
	}
	return p.capacity - max(known, p.busy+pending)
}

// group returns the group of the runner.
func (p *peer) group() policy.Group {
	t := p.rec.Traffic
	if t == nil {
		return policy.Group{Weight: queue.DefaultWeight}
	}
	return policy.Group{Name: t.Group, Weight: min(max(t.Weight, 0), queue.MaxWeight), Fallback: t.Fallback}
}

// ended returns the end of an attempt of the runner.
func (p *peer) ended(e queue.AttemptEnd) groupedEnd {
	return groupedEnd{AttemptEnd: e, group: p.group().Name, instance: p.rec.Instance}
}

// offer updates the slots of the runner in a queue.
func (p *peer) offer(q *policy.Queue, now time.Time) {
	if !p.serves() {
		q.RemoveRunner(p.rec.Name)
		return
	}
	free := p.free()
	if !p.synced || now.Before(p.blocked) {
		free = 0
	}
	p.placeAffinities()
	group := p.group()
	q.SetGroup(group)
	for i, s := range p.slots[:p.capacity] {
		idle := s.job == "" && free > 0
		if idle {
			free--
		}
		q.SetSlot(policy.Slot{
			Runner: p.rec.Name, Group: group.Name, Number: i, Affinity: s.affinity, Idle: idle,
			Operations: p.operations, Features: p.rec.Features,
		})
	}
}

// placeAffinities decides which free slot has which of the conversations that
// the runner says are in its prompt caches. A slot keeps its conversation if it
// can: which cache the engine takes is its own decision.
func (p *peer) placeAffinities() {
	if len(p.slots) == 1 {
		if s := &p.slots[0]; s.job == "" {
			s.affinity = p.rec.Affinity
		}
		return
	}
	left := slices.Clone(p.rec.Affinities)
	take := func(affinity string) bool {
		i := slices.Index(left, affinity)
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
		return i >= 0
	}
	for _, s := range p.slots {
		if s.job != "" {
			take(s.affinity)
		}
	}
	for i := range p.slots {
		if s := &p.slots[i]; s.job == "" && !take(s.affinity) {
			s.affinity = ""
		}
	}
	for i := range p.slots {
		if s := &p.slots[i]; s.job == "" && s.affinity == "" && len(left) > 0 {
			s.affinity, left = left[0], left[1:]
		}
	}
}

// holds returns the attempt at a job from a record of the runner.
func holds(rec queue.Runner, j *job) (queue.HeldAttempt, bool) {
	for _, h := range rec.Held {
		if h.Request.ID == j.req.ID && h.Epoch == j.epoch && h.Attempt == j.number {
			return h, true
		}
	}
	return queue.HeldAttempt{}, false
}
