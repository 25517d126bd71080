package pool

import (
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/external/pace"
	"github.com/gorizond/koldun/internal/external/pool/autoscaler"
)

const (
	// numbersInterval is the minimum interval of reports that change only numbers.
	numbersInterval = 30 * time.Second
	// dllamaStateInterval is the minimum interval of reports of the states of
	// Dllamas, except for the first that serves and the last that ceases to.
	dllamaStateInterval = 5 * time.Second
)

// newStatus returns the status of a pool after a step. lastActivity is that of the
// last status, and stays unless the plan has a later one.
func newStatus(s Spec, p autoscaler.Plan, o autoscaler.Observation, lastActivity *time.Time) Status {
	out := Status{Template: s.template(), NextMember: p.Next, LastActivity: lastActivity}
	out.Backlog, out.InFlight = o.Requests()
	out.IdleRunners, out.BusyRunners = o.Runners()
	for _, m := range p.Members {
		d := s.DllamaStates[s.dllama(m.Name)]
		out.Members = append(out.Members, Member{
			Name: m.Name, Phase: m.Phase, Ready: d.Ready, ReadyWorkers: d.ReadyWorkers, Reason: d.Reason, Message: d.Message,
		})
	}
	if len(p.NeededAt) > 0 {
		last := p.NeededAt[0].UTC().Truncate(time.Second)
		out.LastActivity = &last
	}
	return out
}

// reportAt returns when to report the current status; zero means never.
func (p *observed) reportAt(now time.Time) (at time.Time) {
	switch {
	case p.reportedAt.IsZero():
		return now
	case p.current.Template != p.reported.Template, !sameMembers(p.current.Members, p.reported.Members), p.current.serves() != p.reported.serves():
		at = p.reportedAt
	case !slices.Equal(p.current.Members, p.reported.Members):
		at = p.reportedAt.Add(dllamaStateInterval)
	case p.current.Backlog > 0, !p.current.equal(p.reported):
		at = p.reportedAt.Add(numbersInterval)
	default:
		return time.Time{}
	}
	if left := p.budget.Left(pace.Change, now); left.After(at) {
		return left
	}
	return at
}

// reportDue reports whether to report the current status now.
func (p *observed) reportDue(now time.Time) bool {
	at := p.reportAt(now)
	return !at.IsZero() && !at.After(now)
}

// serves reports whether any member serves.
func (s Status) serves() bool {
	return slices.ContainsFunc(s.Members, func(m Member) bool { return m.Ready })
}

// sameMembers reports whether both lists have the same members in the same phases,
// ignoring drained ones.
func sameMembers(a, b []Member) bool {
	left := func(m []Member) []Member {
		return slices.DeleteFunc(slices.Clone(m), func(m Member) bool { return m.Phase == autoscaler.Drained })
	}
	return slices.EqualFunc(left(a), left(b), func(a, b Member) bool { return a.Name == b.Name && a.Phase == b.Phase })
}

func (s Status) equal(o Status) bool {
	if !slices.Equal(s.Members, o.Members) {
		return false
	}
	if (s.LastActivity == nil) != (o.LastActivity == nil) || s.LastActivity != nil && !s.LastActivity.Equal(*o.LastActivity) {
		return false
	}
	return s.Template == o.Template && s.NextMember == o.NextMember && s.Backlog == o.Backlog && s.InFlight == o.InFlight &&
		s.OldestAgeSeconds == o.OldestAgeSeconds && s.IdleRunners == o.IdleRunners && s.BusyRunners == o.BusyRunners
}
