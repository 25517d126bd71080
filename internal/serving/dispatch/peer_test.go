package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
	"github.com/gorizond/koldun/internal/serving/queue"
)

func runnerOf(slots int, state queue.RunnerState, affinities ...string) queue.Runner {
	r := queue.Runner{Name: "r", Instance: "i", Version: 5, Slots: slots, State: state, Affinities: affinities}
	if len(affinities) > 0 {
		r.Affinity = affinities[0]
	}
	return r
}

// TestDefaultWeight holds that the policy, which does not know the queue, has
// the default of the queue.
func TestDefaultWeight(t *testing.T) {
	if policy.DefaultWeight != queue.DefaultWeight {
		t.Errorf("the default weight is %d in the policy and %d in the queue", policy.DefaultWeight, queue.DefaultWeight)
	}
}

func jobOf(id, affinity string) *job {
	return &job{req: queue.Request{ID: id, Affinity: affinity}}
}

// served returns the jobs that go to the peer, of more than it can take, as
// "slot:affinity" of its idle slots in the order of its slots.
func served(p *peer, now time.Time) string {
	q := policy.New(time.Second)
	p.offer(q, now)
	for i := range 100 {
		q.Add(policy.Job{ID: fmt.Sprint(i), Tenant: "t", Order: uint64(i), Since: now.Add(-time.Hour), Deadline: now.Add(time.Hour), Affinity: ""})
	}
	var slots []string
	for _, to, ok := q.Next(now); ok; _, to, ok = q.Next(now) {
		slots = append(slots, fmt.Sprintf("%d:%s", to.Number, p.slots[to.Number].affinity))
	}
	slices.Sort(slots)
	return strings.Join(slots, " ")
}

func TestPeerOffers(t *testing.T) {
	now := time.Now()
	cases := map[string]struct {
		rec  queue.Runner
		set  func(p *peer)
		want string
	}{
		"OneSlot":         {runnerOf(0, queue.RunnerIdle, "a"), nil, "0:a"},
		"OneSlotBusy":     {runnerOf(1, queue.RunnerBusy), nil, ""},
		"Starting":        {runnerOf(4, queue.RunnerStarting), nil, ""},
		"Draining":        {runnerOf(4, queue.RunnerDraining), nil, ""},
		"NotSynced":       {runnerOf(1, queue.RunnerIdle), func(p *peer) { p.synced = false }, ""},
		"Absent":          {runnerOf(1, queue.RunnerIdle), func(p *peer) { p.absent = true }, ""},
		"Blocked":         {runnerOf(2, queue.RunnerIdle), func(p *peer) { p.blocked = now.Add(time.Second) }, ""},
		"NoLongerBlocked": {runnerOf(2, queue.RunnerIdle), func(p *peer) { p.blocked = now }, "0: 1:"},
		"AllSlots":        {runnerOf(3, queue.RunnerIdle, "a", "b"), nil, "0:a 1:b 2:"},
		"TooManySlots":    {runnerOf(1000, queue.RunnerIdle), func(p *peer) { p.busy = queue.MaxSlots - 1 }, "0:"},
		"Offered":         {runnerOf(3, queue.RunnerIdle), func(p *peer) { p.offered(jobOf("1", ""), 1) }, "0: 2:"},
		"Accepted": {runnerOf(3, queue.RunnerIdle), func(p *peer) {
			p.offered(jobOf("1", ""), 0)
			p.setStatus(queue.RunnerStatus{Instance: "i", Version: 6, State: queue.RunnerBusy, Busy: 1})
			p.accepted(jobOf("1", ""))
		}, "1: 2:"},
		"HoldsMoreThanIsKnown": {runnerOf(3, queue.RunnerIdle), func(p *peer) {
			p.setStatus(queue.RunnerStatus{Instance: "i", Version: 6, State: queue.RunnerBusy, Busy: 2})
		}, "0:"},
		"HoldsOthersAndIsOffered": {runnerOf(3, queue.RunnerIdle), func(p *peer) {
			p.setStatus(queue.RunnerStatus{Instance: "i", Version: 6, State: queue.RunnerBusy, Busy: 2})
			p.offered(jobOf("1", ""), 0)
		}, ""},
		"AnOldStatus": {runnerOf(2, queue.RunnerIdle), func(p *peer) {
			p.setStatus(queue.RunnerStatus{Instance: "i", Version: 4, State: queue.RunnerBusy, Busy: 2})
		}, "0: 1:"},
		"AnotherInstance": {runnerOf(2, queue.RunnerIdle), func(p *peer) {
			p.setStatus(queue.RunnerStatus{Instance: "j", Version: 9, State: queue.RunnerBusy, Busy: 2})
		}, "0: 1:"},
		"Dropped": {runnerOf(2, queue.RunnerIdle), func(p *peer) {
			p.offered(jobOf("1", ""), 0)
			p.drop("1")
		}, "0: 1:"},
		"MoreHeldThanSlots": {runnerOf(2, queue.RunnerBusy), func(p *peer) {
			for i := range 3 {
				p.accepted(jobOf(fmt.Sprint(i), ""))
			}
			p.drop("0")
		}, ""},
		"MoreHeldThanSlotsDropped": {runnerOf(2, queue.RunnerBusy), func(p *peer) {
			for i := range 3 {
				p.accepted(jobOf(fmt.Sprint(i), ""))
			}
			p.drop("2")
			p.drop("0")
		}, "0:"},
		"ConversationOfABusySlot": {runnerOf(2, queue.RunnerIdle, "b", "a"), func(p *peer) { p.offered(jobOf("1", "a"), 0) }, "1:b"},
		"SlotsKeepConversations": {runnerOf(3, queue.RunnerIdle, "a", "b", "c"), func(p *peer) {
			p.placeAffinities()
			p.setStatus(queue.RunnerStatus{Instance: "i", Version: 6, State: queue.RunnerIdle, Affinities: []string{"d", "c", "a"}})
		}, "0:a 1:d 2:c"},
		"ConversationsAreLost": {runnerOf(2, queue.RunnerIdle, "a", "b"), func(p *peer) {
			p.placeAffinities()
			p.setStatus(queue.RunnerStatus{Instance: "i", Version: 6, State: queue.RunnerIdle})
		}, "0: 1:"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPeer(c.rec)
			p.synced = true
			if c.set != nil {
				c.set(p)
			}
			if d := cmp.Diff(c.want, served(p, now)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestPeerForgetsHeld(t *testing.T) {
	rec := runnerOf(2, queue.RunnerBusy)
	rec.Held = []queue.HeldAttempt{{Request: queue.Ref{ID: "1"}}, {Request: queue.Ref{ID: "2"}}}
	p := newPeer(rec)
	p.forgetHeld("1")
	p.forgetHeld("3")
	if len(p.rec.Held) != 1 || p.rec.Held[0].Request.ID != "2" || rec.Held[0].Request.ID != "1" {
		t.Errorf("held %v, and the record itself %v", p.rec.Held, rec.Held)
	}
	if p.idle() {
		t.Error("a runner that holds an attempt is idle")
	}
	p.forgetHeld("2")
	if !p.idle() {
		t.Error("a runner without attempts is not idle")
	}
	p.accepted(jobOf("1", ""))
	if p.idle() || !p.has("1") || p.has("2") || p.drop("2") {
		t.Error("the runner has job 1 and no other")
	}
}

func TestHolds(t *testing.T) {
	rec := queue.Runner{Held: []queue.HeldAttempt{{Request: queue.Ref{ID: "1"}, Epoch: 2, Attempt: 3, Text: true}}}
	for name, c := range map[string]struct {
		epoch   uint64
		attempt int
		id      string
		want    bool
	}{
		"Same":         {2, 3, "1", true},
		"OtherEpoch":   {1, 3, "1", false},
		"OtherAttempt": {2, 2, "1", false},
		"OtherRequest": {2, 3, "2", false},
	} {
		t.Run(name, func(t *testing.T) {
			j := jobOf(c.id, "")
			j.epoch, j.number = c.epoch, c.attempt
			if h, ok := holds(rec, j); ok != c.want || h.Text != c.want {
				t.Errorf("holds = %+v, %t, want %t", h, ok, c.want)
			}
		})
	}
}

// A request goes only to a runner that serves its operation. A request that
// names none is a chat, and a runner that lists none serves the defaults.
func TestPeerOffersItsOperations(t *testing.T) {
	cases := map[string]struct {
		lists  []openai.Operation
		asked  openai.Operation
		want   bool
		offers openai.Features
		needs  openai.Features
	}{
		"DefaultOfBoth":        {lists: nil, asked: "", want: true},
		"DefaultIsChat":        {lists: []openai.Operation{openai.OperationCompletion}, asked: "", want: false},
		"DefaultsOfARunner":    {lists: nil, asked: openai.OperationCompletion, want: true},
		"NotAmongTheDefaults":  {lists: nil, asked: "embedding", want: false},
		"Listed":               {lists: []openai.Operation{openai.OperationChat, "embedding"}, asked: "embedding", want: true},
		"OnlyOthersAreListed":  {lists: []openai.Operation{"embedding"}, asked: openai.OperationChat, want: false},
		"CompletionIsNoChat":   {lists: []openai.Operation{openai.OperationChat}, asked: openai.OperationCompletion, want: false},
		"ChatIsListedAndAsked": {lists: []openai.Operation{openai.OperationChat}, asked: openai.OperationChat, want: true},
		"OffersTheFeature":     {lists: nil, asked: openai.OperationChat, want: true, offers: "logprobs,tools", needs: "tools"},
		"LacksTheFeature":      {lists: nil, asked: openai.OperationChat, want: false, offers: "logprobs", needs: "tools"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			rec := runnerOf(1, queue.RunnerIdle)
			rec.Operations, rec.Features = c.lists, c.offers
			p := newPeer(rec)
			p.synced = true
			j := jobOf("1", "")
			j.req.Operation, j.req.Features, j.deadline = c.asked, c.needs, now.Add(time.Hour)
			q := policy.New(time.Second)
			p.offer(q, now)
			q.Add(j.waiting(now))
			if _, _, ok := q.Next(now); ok != c.want {
				t.Errorf("it is assigned: %t, want %t", ok, c.want)
			}
		})
	}
}

// A new leader that reads a request of which a runner holds an attempt gives the
// attempt's slot to no other request.
func TestTakeOverOccupiesASlot(t *testing.T) {
	now := time.Now()
	rec := runnerOf(2, queue.RunnerBusy)
	rec.Held = []queue.HeldAttempt{{Request: queue.Ref{ID: "1"}, Epoch: 1, Attempt: 1}}
	p := newPeer(rec)
	p.synced = true
	j := jobOf("1", "")
	l := leaderOf(Config{})
	l.ledger.jobs["1"], l.peers.byName["r"], l.roster.orphans["1"] = j, p, orphan{"r", rec.Held[0]}
	l.spawn = func(func(context.Context)) {}
	l.peers.offer(p)
	j.unfenced = true
	l.intake.begin(j)
	l.ledger.queue.Add(policy.Job{ID: "2", Tenant: "t", Since: now, Deadline: now.Add(time.Hour)})
	if _, to, ok := l.ledger.queue.Next(now); !ok || p.slots[to.Number].job != "" {
		t.Errorf("request 2 goes to slot %d (%t), and request 1 has slot %d", to.Number, ok, p.slot("1"))
	}
}

// A runner offers its slots in the group of its record.
func TestPeerOffersItsGroup(t *testing.T) {
	cases := map[string]struct {
		traffic *queue.Traffic
		want    policy.Group
	}{
		"None":     {nil, policy.Group{Weight: 100}},
		"Weight":   {&queue.Traffic{Group: "g", Weight: 5}, policy.Group{Name: "g", Weight: 5}},
		"Zero":     {&queue.Traffic{Group: "g"}, policy.Group{Name: "g"}},
		"Fallback": {&queue.Traffic{Group: "g", Weight: 1, Fallback: true}, policy.Group{Name: "g", Weight: 1, Fallback: true}},
		"TooLarge": {&queue.Traffic{Group: "g", Weight: 1 << 40}, policy.Group{Name: "g", Weight: 1000}},
		"Negative": {&queue.Traffic{Group: "g", Weight: -1}, policy.Group{Name: "g"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			rec := runnerOf(1, queue.RunnerIdle)
			rec.Traffic = c.traffic
			p := newPeer(rec)
			p.synced = true
			if diff := cmp.Diff(c.want, p.group()); diff != "" {
				t.Error(diff)
			}
			j := jobOf("1", "")
			j.deadline = now.Add(time.Hour)
			q := policy.New(time.Second)
			p.offer(q, now)
			q.Add(j.waiting(now))
			_, to, ok := q.Next(now)
			if ok != (c.want.Weight > 0) || to.Group != c.want.Name && ok {
				t.Errorf("Next = %+v, %t", to, ok)
			}
		})
	}
}

// A fallback takes nothing because a busy runner has lost one answer: it does so
// when the runner is gone or starts anew.
func TestFallbackWaitsForALostAnswer(t *testing.T) {
	lost := fault.Errorf(fault.Interrupted, "no answer")
	for name, c := range map[string]struct {
		change func(l *leader, j *job, p *peer)
		opens  bool
	}{
		"NoAnswer": {func(l *leader, j *job, p *peer) { l.roster.onReply(j, p, queue.AssignmentReply{}, lost) }, false},
		"NotSubscribed": {func(l *leader, j *job, p *peer) {
			l.roster.onReply(j, p, queue.AssignmentReply{}, fault.As(fault.NotFound, lost))
		}, false},
		"RefusedStale": {func(l *leader, j *job, p *peer) {
			l.roster.onReply(j, p, queue.AssignmentReply{Reason: queue.RefusedStale}, nil)
		}, false},
		"RefusedUnsynced": {func(l *leader, j *job, p *peer) {
			l.roster.onReply(j, p, queue.AssignmentReply{Reason: queue.RefusedUnsynced}, nil)
		}, false},
		"NewEpoch":      {func(l *leader, _ *job, _ *peer) { l.roster.setEpoch(9) }, false},
		"RecordExpires": {func(l *leader, _ *job, p *peer) { l.roster.recordGone("r", p) }, true},
		"Drains":        {func(l *leader, _ *job, p *peer) { p.rec.State = queue.RunnerDraining; l.peers.offer(p) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			j := &job{phase: assigning, deadline: now.Add(time.Hour)}
			l := unfencedLeader(j)
			l.spawn = func(func(context.Context)) {} // a sync gets no answer
			p := newPeer(runnerOf(2, queue.RunnerBusy))
			outside := runnerOf(1, queue.RunnerIdle)
			outside.Name, outside.Traffic = "outside", &queue.Traffic{Group: "outside", Weight: 1, Fallback: true}
			fallback := newPeer(outside)
			l.peers.byName["r"], l.peers.byName["outside"] = p, fallback
			for _, p := range l.peers.byName {
				p.synced = true
				l.peers.offer(p)
			}
			p.offered(j, 0)
			c.change(l, j, p)
			fallback.synced = true // after a new epoch
			l.peers.offer(p)
			l.peers.offer(fallback)
			l.ledger.queue.Add(policy.Job{ID: "2", Tenant: "t", Since: now, Deadline: now.Add(time.Hour)})
			if next, to, ok := l.ledger.queue.Next(now); ok != c.opens {
				t.Errorf("the fallback is to be open: %t; request %q goes to %q", c.opens, next.ID, to.Runner)
			}
		})
	}
}
