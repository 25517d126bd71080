package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
)

// A ledger has the requests of a session that have not ended, and decides what follows when
// they are read, wait, are tried and end. The leader's loop owns it.
type ledger struct {
	*loop
	records   records
	queue     *policy.Queue
	peers     *peers
	stream    *stream
	positions *positions

	jobs         map[string]*job
	unread       map[string][]groupedEnd // ends of requests not read yet
	earlyCancels *recentIDs              // cancelled before they were read
	refusedSince time.Time               // when all runners were first seen to be refused; zero: one is not
	offered      int                     // outcomes being offered
}

// chargeActual replaces the tenant's expected cost of an attempt by the actual one.
func (l *ledger) chargeActual(j *job, tokens int) {
	expected := 0
	if j.charged {
		expected = j.cost
	}
	j.charged = false
	if tokens != expected {
		l.queue.Charge(class(j.req.Priority), j.req.Tenant, tokens-expected)
	}
}
