package consumer

import (
	"cmp"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

func deliverPolicy(name string) (p jetstream.DeliverPolicy, ok bool) {
	p, ok = map[string]jetstream.DeliverPolicy{
		"All": jetstream.DeliverAllPolicy, "Last": jetstream.DeliverLastPolicy, "New": jetstream.DeliverNewPolicy,
		"LastPerSubject":  jetstream.DeliverLastPerSubjectPolicy,
		"ByStartSequence": jetstream.DeliverByStartSequencePolicy, "ByStartTime": jetstream.DeliverByStartTimePolicy,
	}[cmp.Or(name, "All")]
	return p, ok
}

func ackPolicy(name string) (p jetstream.AckPolicy, ok bool) {
	p, ok = map[string]jetstream.AckPolicy{
		"Explicit": jetstream.AckExplicitPolicy, "All": jetstream.AckAllPolicy, "None": jetstream.AckNonePolicy,
	}[cmp.Or(name, "Explicit")]
	return p, ok
}

func replayPolicy(name string) (p jetstream.ReplayPolicy, ok bool) {
	p, ok = map[string]jetstream.ReplayPolicy{
		"Instant": jetstream.ReplayInstantPolicy, "Original": jetstream.ReplayOriginalPolicy,
	}[cmp.Or(name, "Instant")]
	return p, ok
}

// config is the consumer as JetStream has it. What contradicts itself is
// Invalid, before any server is asked.
func (s Spec) config() (jetstream.ConsumerConfig, error) {
	deliver, ok1 := deliverPolicy(s.DeliverPolicy)
	ack, ok2 := ackPolicy(s.AckPolicy)
	replay, ok3 := replayPolicy(s.ReplayPolicy)
	switch {
	case !ok1 || !ok2 || !ok3:
		return jetstream.ConsumerConfig{}, fault.Errorf(fault.Invalid, "one of the policies %q, %q and %q is not known", s.DeliverPolicy, s.AckPolicy, s.ReplayPolicy)
	case (s.StartSequence != 0) != (deliver == jetstream.DeliverByStartSequencePolicy):
		return jetstream.ConsumerConfig{}, fault.Errorf(fault.Invalid, "startSequence goes with deliverPolicy ByStartSequence")
	case (s.StartTime != nil) != (deliver == jetstream.DeliverByStartTimePolicy):
		return jetstream.ConsumerConfig{}, fault.Errorf(fault.Invalid, "startTime goes with deliverPolicy ByStartTime")
	case s.MaxDeliver > 0 && len(s.Backoff) >= s.MaxDeliver:
		return jetstream.ConsumerConfig{}, fault.Errorf(fault.Invalid, "%d pauses in backoff are too many for %d deliveries", len(s.Backoff), s.MaxDeliver)
	}
	cfg := jetstream.ConsumerConfig{
		Durable: s.Name, Name: s.Name, Description: s.Description,
		DeliverPolicy: deliver, AckPolicy: ack, ReplayPolicy: replay,
		OptStartSeq: s.StartSequence, OptStartTime: s.StartTime,
		MaxDeliver: -1, MaxAckPending: s.MaxAckPending, HeadersOnly: s.HeadersOnly, Replicas: s.Replicas,
		AckWait: duration(s.AckWait), InactiveThreshold: duration(s.InactiveThreshold),
	}
	if s.MaxDeliver > 0 {
		cfg.MaxDeliver = s.MaxDeliver
	}
	// The server keeps one subject and several in different fields.
	if len(s.FilterSubjects) == 1 {
		cfg.FilterSubject = s.FilterSubjects[0]
	} else {
		cfg.FilterSubjects = s.FilterSubjects
	}
	for _, pause := range s.Backoff {
		cfg.BackOff = append(cfg.BackOff, time.Duration(pause))
	}
	if len(cfg.BackOff) > 0 {
		cfg.AckWait = cfg.BackOff[0] // so the server has it
	}
	return cfg, nil
}

// immutable is an error of kind Conflict if the consumer differs in what cannot
// be changed.
func immutable(have, want jetstream.ConsumerConfig) error {
	start := func(c jetstream.ConsumerConfig) time.Time {
		if c.OptStartTime == nil {
			return time.Time{}
		}
		return c.OptStartTime.UTC()
	}
	var field string
	switch {
	case have.DeliverPolicy != want.DeliverPolicy:
		field = "deliverPolicy"
	case have.OptStartSeq != want.OptStartSeq:
		field = "startSequence"
	case !start(have).Equal(start(want)):
		field = "startTime"
	case have.AckPolicy != want.AckPolicy:
		field = "ackPolicy"
	case have.ReplayPolicy != want.ReplayPolicy:
		field = "replayPolicy"
	default:
		return nil
	}
	return fault.Errorf(fault.Conflict, "%s of an existing consumer cannot be changed: delete it, or choose another name", field)
}

// merge is what an existing consumer is to become. What the spec leaves open
// stays.
func merge(have, want jetstream.ConsumerConfig) jetstream.ConsumerConfig {
	out := have
	out.Description, out.HeadersOnly, out.MaxDeliver = want.Description, want.HeadersOnly, want.MaxDeliver
	out.FilterSubject, out.FilterSubjects = want.FilterSubject, want.FilterSubjects
	out.InactiveThreshold, out.BackOff = want.InactiveThreshold, want.BackOff
	out.AckWait = cmp.Or(want.AckWait, have.AckWait)
	out.MaxAckPending = cmp.Or(want.MaxAckPending, have.MaxAckPending)
	out.Replicas = cmp.Or(want.Replicas, have.Replicas)
	return out
}

// same reports whether a merge changes nothing.
func same(have, want jetstream.ConsumerConfig) bool {
	next := merge(have, want)
	return next.Description == have.Description && next.HeadersOnly == have.HeadersOnly && next.MaxDeliver == have.MaxDeliver &&
		next.FilterSubject == have.FilterSubject && slices.Equal(next.FilterSubjects, have.FilterSubjects) &&
		next.InactiveThreshold == have.InactiveThreshold && slices.Equal(next.BackOff, have.BackOff) &&
		next.AckWait == have.AckWait && next.MaxAckPending == have.MaxAckPending && next.Replicas == have.Replicas
}

func duration(d *external.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return time.Duration(*d)
}
