package dispatch

import (
	"testing"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// TestRunnersEndOnlyTheirOwnAttempts has a runner of the session, which may publish reports
// on the session's subject and write its own record, end an attempt of another one.
func TestRunnersEndOnlyTheirOwnAttempts(t *testing.T) {
	end := func(runner string) queue.AttemptEnd {
		return queue.AttemptEnd{Request: "req_1", Epoch: 2, Attempt: 1, Runner: runner, Error: failureOf(queue.CodeInvalidRequest)}
	}
	victim := queue.Runner{Name: "victim", Instance: "secret", State: queue.RunnerBusy, Version: 1}
	evil := queue.Runner{Name: "evil", Instance: "own", State: queue.RunnerIdle, Version: 1}
	report := func(runner, instance string) func(*leader) {
		return func(l *leader) {
			l.roster.onReport(queue.EndReport{AttemptEnd: end(runner), Status: queue.RunnerStatus{Instance: instance, Version: 9}}, func(queue.Ack) {})
		}
	}
	record := func(change func(*queue.Runner)) func(*leader) {
		return func(l *leader) {
			rec := evil
			rec.Version = 2
			change(&rec)
			l.roster.onRunner("evil", rec, false)
		}
	}
	mark := func(runner, instance string) func(*leader) {
		return func(l *leader) {
			l.ledger.onFirstToken(queue.FirstToken{Request: "req_1", Epoch: 2, Attempt: 1, Runner: runner, Instance: instance})
		}
	}
	held := []queue.HeldAttempt{{Request: queue.Ref{ID: "req_1"}, Epoch: 2, Attempt: 1}}
	for name, attack := range map[string]func(*leader){
		"InOwnName":       report("evil", "own"),
		"InOtherName":     report("victim", "own"),
		"WithoutInstance": report("victim", ""),
		"UnknownName":     report("ghost", ""),
		"Record":          record(func(r *queue.Runner) { r.Ends = []queue.AttemptEnd{end("victim")} }),
		"RecordInOwnName": record(func(r *queue.Runner) { r.Ends = []queue.AttemptEnd{end("evil")} }),
		"RecordAsVictim":  record(func(r *queue.Runner) { r.Name, r.Ends = "victim", []queue.AttemptEnd{end("victim")} }),
		"Claims": func(l *leader) {
			rec := evil
			rec.Held = held
			l.roster.adopt("evil", l.peers.byName["evil"], held[0])
			l.roster.removePeer("evil", newPeer(rec), "its runner vanished")
		},
		"FirstToken":            mark("evil", "own"),
		"FirstTokenInOtherName": mark("victim", "own"),
	} {
		t.Run(name, func(t *testing.T) {
			j := job{phase: running, tries: 1, attempt: attempt{epoch: 2, number: 1, runner: "victim", instance: "secret"}}
			l := unfencedLeader(&j)
			l.peers.byName["victim"], l.peers.byName["evil"] = newPeer(victim), newPeer(evil)
			attack(l)
			if j.phase != running || j.runner != "victim" || j.text || j.known.Failed > 0 {
				t.Errorf("the attempt of another runner is %+v", j)
			}
			if got := l.peers.byName["victim"].rec; got.Version != 1 || got.State != queue.RunnerBusy {
				t.Errorf("the other runner is %+v", got)
			}
		})
	}
}

// A report of the runner that has the attempt ends it.
func TestRunnersEndTheirAttempts(t *testing.T) {
	j := job{phase: running, tries: 1, attempt: attempt{epoch: 2, number: 1, runner: "r", instance: "secret"}}
	l := unfencedLeader(&j)
	l.peers.byName["r"] = newPeer(queue.Runner{Name: "r", Instance: "secret"})
	l.roster.onReport(queue.EndReport{
		AttemptEnd: queue.AttemptEnd{Request: "req_1", Epoch: 2, Attempt: 1, Runner: "r"}, Status: queue.RunnerStatus{Instance: "secret"},
	}, func(queue.Ack) {})
	if j.phase != ending {
		t.Errorf("the attempt is %+v", j)
	}
}
