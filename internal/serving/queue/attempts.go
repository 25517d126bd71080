package queue

import (
	"context"
	"encoding/json"

	"github.com/gorizond/koldun/internal/fault"
)

// Attempts is the record of the attempts of a request that has not ended, stored
// under the subject of its outcome. A leader stores it when it takes over a
// request from another leader, which can then record nothing for it, and before
// it retries a failed attempt. Most requests never have one.
type Attempts struct {
	Request  string    `json:"request"`
	Epoch    uint64    `json:"epoch"`             // of the leader that stored them
	Failed   int       `json:"failed"`            // attempts that failed before their first token
	Reasons  []string  `json:"reasons,omitempty"` // why, oldest first
	Runners  []string  `json:"runners,omitempty"` // runners that failed it
	Groups   []string  `json:"groups,omitempty"`  // of those runners
	UpTo     AttemptID `json:"upTo"`              // the newest counted attempt
	Sequence uint64    `json:"-"`                 // in the outcome stream; 0: not stored
}

// An AttemptID identifies an attempt of a request. Later attempts are greater.
type AttemptID struct {
	Epoch   uint64 `json:"epoch,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
}

// After reports whether t is a later attempt than other.
func (t AttemptID) After(other AttemptID) bool {
	return t.Epoch > other.Epoch || t.Epoch == other.Epoch && t.Attempt > other.Attempt
}

// PublishAttempts replaces the record with t.Sequence by t, and returns the new
// sequence. It retries until t is stored or ctx ends. Errors: Conflict if another
// leader has stored a record since.
func (s outcomes) PublishAttempts(ctx context.Context, ref Ref, t Attempts) (uint64, error) {
	data, err := json.Marshal(t)
	if err != nil {
		return 0, fault.Errorf(fault.Internal, "cannot encode the tries of request %q: %w", ref.ID, err)
	}
	return s.storeRecord(ctx, ref, data, t.Sequence)
}

// LastAttempts reads the attempts of a request that has not ended, which may have
// none. Errors: Conflict if it has ended, Transient.
func (s outcomes) LastAttempts(ctx context.Context, ref Ref) (Attempts, error) {
	t := Attempts{Request: ref.ID}
	msg, err := s.lastRecord(ctx, ref)
	if fault.Is(err, fault.NotFound) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	var r record
	if err := json.Unmarshal(msg.Data, &r); err == nil && r.State != "" {
		return t, fault.Errorf(fault.Conflict, "cannot try request %q again: it has ended", ref.ID)
	}
	if err := json.Unmarshal(msg.Data, &t); err != nil {
		s.streams.bus.Logger().Warn("cannot decode the tries of a request", "request", ref.ID, "error", err)
		t = Attempts{Request: ref.ID}
	}
	t.Sequence = msg.Sequence
	return t, nil
}
