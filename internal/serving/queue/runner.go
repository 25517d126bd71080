package queue

import (
	"time"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/openai"
)

// A RunnerState is what a runner does.
type RunnerState string

// The runner states.
const (
	RunnerStarting RunnerState = "starting" // the engine has not proved yet that it generates; it takes nothing new
	RunnerIdle     RunnerState = "idle"     // it works on nothing
	RunnerBusy     RunnerState = "busy"     // at least one of its slots is in use
	RunnerDraining RunnerState = "draining" // finishes what it has, takes nothing new
)

// A HeldAttempt is an attempt that a runner works on.
type HeldAttempt struct {
	Request Ref       `json:"request"`
	Epoch   uint64    `json:"epoch"`
	Attempt int       `json:"attempt"`
	Started time.Time `json:"started,omitzero"`
	Text    bool      `json:"text,omitempty"` // text was sent, so it cannot be tried elsewhere
}

// A Traffic is a group of runners that serves a share of the session's requests.
// Runners without one form a group of weight DefaultWeight.
type Traffic struct {
	Group  string `json:"group"`
	Weight int    `json:"weight"` // relative to other groups; 0 takes no requests
	// Fallback says that the group takes only requests that no ready runner of
	// another group serves.
	Fallback bool `json:"fallback,omitempty"`
}

// A Member is a group as the record of a model lists it.
type Member struct {
	Weight   int  `json:"weight"` // as in Traffic
	Fallback bool `json:"fallback,omitempty"`
}

// Members is the part of a model's record in names.ModelsBucket that runners follow, and the
// answer on names.MembersSubject. The zero value stands for no record.
type Members struct {
	// Members are the groups with a weight of their own, by name.
	Members map[string]Member `json:"members,omitempty"`
}

// The weights of a group.
const (
	DefaultWeight = 100
	MaxWeight     = 1000
)

// MaxEnds is how many ends a runner keeps that no leader has acknowledged; with
// so many it takes no more work.
const MaxEnds = MaxSlots

// A Runner is a runner's own record in names.RunnersBucket, refreshed well
// within its TTL, at once when the runner begins or ceases to take work, and
// soon when what else it says has changed and stays so: no request waits for it.
type Runner struct {
	Name     string        `json:"name"`
	Session  string        `json:"session"`
	Model    string        `json:"model"`
	State    RunnerState   `json:"state"`
	Progress string        `json:"progress,omitempty"` // what its engine does while it starts: "loading 3 of 32"
	Refusal  *Failure      `json:"refusal,omitempty"`  // of the server that it stands for, which takes no requests for now
	Requests []string      `json:"requests,omitempty"` // ids it holds
	Held     []HeldAttempt `json:"held,omitempty"`     // the attempts at them
	// Slots is how many requests its engine computes at the same time; absent
	// is 1.
	Slots int `json:"slots,omitempty"`
	// Taken is how many of the slots requests from elsewhere take, if the engine is a
	// server that others use too.
	Taken    int    `json:"taken,omitempty"`
	Affinity string `json:"affinity,omitempty"` // conversation that its prompt cache was used for last
	// Affinities are the conversations in the prompt caches of its slots, the one
	// used last first, if it has more than one slot.
	Affinities []string `json:"affinities,omitempty"`
	// Honours names the hints that its engine honours; empty until the engine
	// has generated.
	Honours []string `json:"honours,omitempty"`
	// Operations are those that its engine lists; empty means
	// openai.DefaultOperations.
	Operations []openai.Operation `json:"operations,omitempty"`
	// Features are those that its engine offers.
	Features openai.Features `json:"features,omitempty"`
	// Traffic is the group of the runner; nil is the group without a name.
	Traffic *Traffic `json:"traffic,omitempty"`
	// Ends are the ends of attempts that no leader has acknowledged yet, so that a
	// new leader reads what the one before has missed. Oldest first, at most
	// MaxEnds.
	Ends []AttemptEnd `json:"ends,omitempty"`
	// Instance differs for each process of the same name, and Version grows with
	// each change of an instance's record, heartbeats excluded.
	Instance string `json:"instance"`
	Version  uint64 `json:"version"`
}

// MaxSlots is the most slots that a runner may have: the end of each attempt in
// one of them must fit into Ends.
const MaxSlots = engine.MaxSlots

// Capacity returns how many requests the runner computes at the same time.
func (r Runner) Capacity() int { return min(max(r.Slots, 1), MaxSlots) }

// Busy returns how many slots are in use, by the runner's own requests or by those
// from elsewhere.
func (r Runner) Busy() int { return len(r.Held) + r.Taken }

// Status returns the part of the record that answers and reports have.
func (r Runner) Status() RunnerStatus {
	s := RunnerStatus{Instance: r.Instance, Version: r.Version, State: r.State, Affinity: r.Affinity}
	if r.Capacity() > 1 {
		s.Busy, s.Affinities = r.Busy(), r.Affinities
	}
	return s
}

// A RunnerStatus is the part of a runner's record that it adds to its answers and
// reports. The leader learns from it at once what the record in the bucket shows
// later, or never if it did not last.
type RunnerStatus struct {
	Instance string      `json:"instance"`
	Version  uint64      `json:"version"` // of the runner's record; an older one than is known says nothing
	State    RunnerState `json:"state"`
	Affinity string      `json:"affinity,omitempty"` // conversation that its prompt cache was used for last
	// Busy and Affinities are as Runner.Busy returns and in Runner, if the runner
	// has more than one slot.
	Busy       int      `json:"busy,omitempty"`
	Affinities []string `json:"affinities,omitempty"`
}
