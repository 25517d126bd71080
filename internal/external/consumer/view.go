package consumer

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/internal/fault"
)

var _ external.Viewer[Spec] = (*Client)(nil)

// View reads how the consumer is configured. Fields that the spec leaves to the
// server stay left out, unless AllFields are viewed.
func (c *Client) View(ctx context.Context, s Spec, scope external.Scope) (Spec, error) {
	info, err := c.look(ctx, s)
	if err != nil {
		return Spec{}, s.failed("observe", err)
	}
	if info == nil {
		return Spec{}, s.failed("observe", fault.Errorf(fault.NotFound, "the consumer does not exist"))
	}
	have := info.Config
	out := Spec{
		Stream: s.Stream, Name: s.Name, Description: have.Description, FilterSubjects: have.FilterSubjects,
		DeliverPolicy: policy(s.DeliverPolicy, have.DeliverPolicy, deliverPolicy, "All", "Last", "New", "LastPerSubject", "ByStartSequence", "ByStartTime"),
		AckPolicy:     policy(s.AckPolicy, have.AckPolicy, ackPolicy, "Explicit", "All", "None"),
		ReplayPolicy:  policy(s.ReplayPolicy, have.ReplayPolicy, replayPolicy, "Instant", "Original"),
		StartSequence: have.OptStartSeq, StartTime: have.OptStartTime, MaxDeliver: max(have.MaxDeliver, 0), HeadersOnly: have.HeadersOnly,
		InactiveThreshold: stream.ViewLimit(s.InactiveThreshold, have.InactiveThreshold),
	}
	if have.FilterSubject != "" {
		out.FilterSubjects = []string{have.FilterSubject}
	}
	for _, pause := range have.BackOff {
		out.Backoff = append(out.Backoff, external.Duration(pause))
	}
	if out.AckWait = s.AckWait; scope == external.AllFields || s.AckWait != nil && len(have.BackOff) == 0 {
		out.AckWait = stream.ViewLimit(s.AckWait, have.AckWait) // otherwise the pauses overrule it
	}
	if scope == external.AllFields || s.MaxAckPending != 0 {
		out.MaxAckPending = have.MaxAckPending
	}
	if scope == external.AllFields || s.Replicas != 0 {
		out.Replicas = have.Replicas
	}
	return out, nil
}

// policy is the name of a policy, in the spec's words where they mean the same.
func policy[P jetstream.DeliverPolicy | jetstream.AckPolicy | jetstream.ReplayPolicy](said string, have P, parse func(string) (P, bool), names ...string) string {
	if p, ok := parse(said); ok && p == have {
		return said
	}
	for _, name := range names {
		if p, ok := parse(name); ok && p == have {
			return name
		}
	}
	return ""
}
