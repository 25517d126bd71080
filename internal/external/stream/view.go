package stream

import (
	"context"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/nats/bus"
)

var _ external.Viewer[Spec] = (*Client)(nil)

// defaultWindow is the server's duplicate window.
const defaultWindow = 2 * time.Minute

// View reads the configuration of the stream.
func (c *Client) View(ctx context.Context, s Spec, scope external.Scope) (Spec, error) {
	have, err := c.bus.Manager().ViewStream(ctx, s.Name)
	if err != nil {
		return Spec{}, err
	}
	out := Spec{
		Name: s.Name, Subjects: have.Subjects, Discard: s.Discard, Replicas: ViewReplicas(s.Replicas, have.Replicas), Placement: ViewPlacement(s.Placement, have.Placement, scope),
		MaxBytes: have.MaxBytes, MaxMsgs: have.MaxMsgs, MaxMsgSize: have.MaxMsgSize, MaxMsgsPerSubject: have.MaxPerSubject,
	}
	if have.DiscardNew {
		out.Discard = "new"
	} else if s.Discard == "new" {
		out.Discard = "old"
	}
	out.MaxAge = ViewLimit(s.MaxAge, have.MaxAge)
	if out.DuplicateWindow = window(s.DuplicateWindow, have.Dedupe, have.MaxAge); scope == external.AllFields {
		out.DuplicateWindow = inWords(s.DuplicateWindow, have.Dedupe)
	}
	return out, nil
}

// window returns the duplicate window as a spec states it: the server limits it to
// the age of messages, and its default is two minutes.
func window(said *external.Duration, have, maxAge time.Duration) *external.Duration {
	wanted := defaultWindow
	if said != nil && *said != 0 {
		wanted = time.Duration(*said)
	}
	if maxAge > 0 {
		wanted = min(wanted, maxAge)
	}
	if have == wanted {
		return said
	}
	return inWords(said, have)
}

// ViewPlacement returns the placement as a spec states it: nil if the spec omits
// it, unless AllFields are viewed.
func ViewPlacement(said *Placement, have bus.Placement, scope external.Scope) *Placement {
	if said == nil && (scope == external.SpecFields || have.Cluster == "" && len(have.Tags) == 0) {
		return nil
	}
	if said != nil && said.Cluster == have.Cluster && slices.Equal(said.Tags, have.Tags) {
		return said
	}
	return &Placement{Cluster: have.Cluster, Tags: have.Tags}
}

// ViewReplicas returns the number of replicas as a spec states it, where 0 means
// the 1 of a new stream.
func ViewReplicas(said, have int) int {
	if said == 0 && have == 1 {
		return 0
	}
	return have
}

// ViewLimit returns a duration as a spec states it, where both nil and 0 mean no
// limit.
func ViewLimit(said *external.Duration, have time.Duration) *external.Duration {
	if have == 0 && (said == nil || *said != 0) {
		return nil
	}
	return inWords(said, have)
}

func inWords(said *external.Duration, have time.Duration) *external.Duration {
	if said != nil && time.Duration(*said) == have {
		return said
	}
	d := external.Duration(have)
	return &d
}
