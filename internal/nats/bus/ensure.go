package bus

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// Ensure creates missing streams and buckets of package names. It keeps the limits
// of existing ones, and changes them in place only where Koldun could not work
// otherwise (subjects, discard policy, TTL per key). Many processes may call it
// concurrently.
func (b *Bus) Ensure(ctx context.Context) error {
	for _, s := range Streams() {
		if err := b.ensure(ctx, s.config(), adopt, true, nil); err != nil {
			return err
		}
	}
	for _, s := range Buckets() {
		if err := b.AdoptKV(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// EnsureStream creates a stream, or updates it in place, to match the spec.
func (b *Bus) EnsureStream(ctx context.Context, spec StreamSpec) error {
	return b.ensure(ctx, spec.config(), replace, false, spec.May)
}

// EnsureKV creates a bucket, or updates it in place, to match the spec.
func (b *Bus) EnsureKV(ctx context.Context, spec KVSpec) error {
	return b.ensure(ctx, spec.config(), replace, false, spec.May)
}

// AdoptKV creates a bucket if it is missing, and keeps the limits of an existing one.
func (b *Bus) AdoptKV(ctx context.Context, spec KVSpec) error {
	return b.ensure(ctx, spec.config(), adopt, true, nil)
}

// A merge returns the new configuration of an existing stream.
type merge func(have, want jetstream.StreamConfig) jetstream.StreamConfig

// adopt changes only required settings.
func adopt(have, want jetstream.StreamConfig) jetstream.StreamConfig {
	for _, s := range want.Subjects {
		if !slices.Contains(have.Subjects, s) {
			have.Subjects = append(slices.Clone(have.Subjects), s)
		}
	}
	have.Discard = want.Discard
	have.AllowDirect = have.AllowDirect || want.AllowDirect
	have.AllowRollup = want.AllowRollup
	have.AllowMsgTTL = have.AllowMsgTTL || want.AllowMsgTTL
	if have.SubjectDeleteMarkerTTL == 0 {
		have.SubjectDeleteMarkerTTL = want.SubjectDeleteMarkerTTL
	}
	return have
}

// replace changes all settings of the spec and no others: an adopted stream keeps
// its description and its setting for direct reads. The stream of requests keeps its
// size if the spec names none: several owners share it, and it is never without one.
func replace(have, want jetstream.StreamConfig) jetstream.StreamConfig {
	out := have
	if want.Description != "" {
		out.Description = want.Description
	}
	out.Subjects = want.Subjects
	out.MaxAge = want.MaxAge
	if want.MaxBytes > 0 || want.Name != names.RequestStream {
		out.MaxBytes = want.MaxBytes
	}
	out.MaxMsgs = want.MaxMsgs
	out.MaxMsgSize = want.MaxMsgSize
	if want.MaxMsgsPerSubject != 0 {
		out.MaxMsgsPerSubject = want.MaxMsgsPerSubject
	}
	out.Discard = want.Discard
	out.DiscardNewPerSubject = want.DiscardNewPerSubject
	if want.Duplicates != 0 {
		out.Duplicates = want.Duplicates
	} else if out.MaxAge > 0 {
		out.Duplicates = min(have.Duplicates, out.MaxAge) // the server refuses a longer window
	}
	out.AllowRollup = want.AllowRollup || have.AllowRollup && !ours(strings.TrimPrefix(want.Name, names.KVStream("")))
	out.AllowMsgTTL = have.AllowMsgTTL || want.AllowMsgTTL // cannot be disabled
	if want.NoAck {
		out.NoAck, out.RePublish = true, want.RePublish
	}
	out.SubjectDeleteMarkerTTL = want.SubjectDeleteMarkerTTL
	if want.Replicas != 0 {
		out.Replicas = want.Replicas
	}
	if want.Placement != nil {
		out.Placement = want.Placement
	}
	return out
}

// ensure makes a stream match its configuration. A patient caller waits for another process,
// with more rights, to make it.
func (b *Bus) ensure(ctx context.Context, want jetstream.StreamConfig, m merge, patient bool, may func(map[string]string) error) error {
	for attempt := 0; ; attempt++ {
		err := b.ensureOnce(ctx, want, m, may)
		if err == nil {
			return nil
		}
		// Another process was faster, or the cluster elects a leader: read again.
		again, pause := fault.Is(err, fault.Transient) || fault.Is(err, fault.Conflict), Backoff(min(attempt, 3))
		if patient && errors.Is(err, nats.ErrPermissionViolation) {
			again, pause = true, Backoff(attempt)
		}
		if !again || ctx.Err() != nil {
			return fault.Errorf(fault.KindOf(err), "cannot make JetStream stream %q: %w", want.Name, err)
		}
		if attempt%20 == 1 {
			b.log.Warn("cannot make a JetStream stream yet", "stream", want.Name, "error", err)
		}
		select {
		case <-ctx.Done():
			return fault.Errorf(KindAtEnd(ctx, err), "cannot make JetStream stream %q: %w", want.Name, err)
		case <-time.After(pause):
		}
	}
}

func (b *Bus) ensureOnce(ctx context.Context, want jetstream.StreamConfig, m merge, may func(map[string]string) error) error {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	stream, err := b.stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if want.Replicas == 0 {
			want.Replicas = 1
		}
		if want.MaxMsgsPerSubject == 0 {
			want.MaxMsgsPerSubject = 1 // only buckets have no value here
		}
		if want.Name == names.RequestStream {
			want.FirstSeq = FirstSequence(time.Now())
			if want.MaxBytes <= 0 {
				want.MaxBytes = names.RequestMaxBytes
			}
		}
		_, err = permitted(ctx, &b.permits, streamAPI+"CREATE."+want.Name, func(ctx context.Context) (jetstream.Stream, error) {
			return b.js.CreateStream(ctx, want)
		})
		return Kinded(err)
	}
	if err != nil {
		return Kinded(err)
	}
	have := stream.CachedInfo().Config
	next := m(have, want)
	if reflect.DeepEqual(have, next) {
		return nil
	}
	if may != nil {
		if err := may(have.Metadata); err != nil {
			return err
		}
	}
	_, err = permitted(ctx, &b.permits, streamAPI+"UPDATE."+want.Name, func(ctx context.Context) (jetstream.Stream, error) {
		return b.js.UpdateStream(ctx, next)
	})
	return Kinded(err)
}

func (s StreamSpec) config() jetstream.StreamConfig {
	dedupe := s.Dedupe
	if dedupe == 0 {
		dedupe = 2 * time.Minute
	}
	if s.MaxAge > 0 {
		dedupe = min(dedupe, s.MaxAge)
	}
	discard := jetstream.DiscardOld
	if s.DiscardNew {
		discard = jetstream.DiscardNew
	}
	return jetstream.StreamConfig{
		Name:                 s.Name,
		Description:          s.Description,
		Metadata:             s.Metadata,
		Subjects:             s.Subjects,
		Retention:            jetstream.LimitsPolicy,
		Storage:              jetstream.FileStorage,
		MaxConsumers:         -1,
		MaxAge:               s.MaxAge,
		MaxBytes:             unlimited(s.MaxBytes),
		MaxMsgs:              unlimited(s.MaxMsgs),
		MaxMsgSize:           unlimited(s.MaxMsgSize),
		MaxMsgsPerSubject:    unlimited(s.MaxPerSubject),
		Discard:              discard,
		DiscardNewPerSubject: s.DiscardNew && s.MaxPerSubject > 0,
		Duplicates:           dedupe,
		Replicas:             s.Replicas,
		Placement:            s.Placement.config(),
		AllowDirect:          true,
	}
}

// config returns the stream of a bucket, as all NATS clients configure it. The
// server chooses the window for duplicates.
func (s KVSpec) config() jetstream.StreamConfig {
	var stored *jetstream.RePublish
	silent := isUnacknowledged(s.Name)
	if silent {
		stored = &jetstream.RePublish{Source: names.KVSubject(s.Name, ">"), Destination: names.StoredSubject(s.Name, ">")}
	}
	return jetstream.StreamConfig{
		Name:                   names.KVStream(s.Name),
		Description:            s.Description,
		Metadata:               s.Metadata,
		Subjects:               []string{names.KVSubject(s.Name, ">")},
		Retention:              jetstream.LimitsPolicy,
		Storage:                jetstream.FileStorage,
		MaxConsumers:           -1,
		MaxMsgs:                -1,
		MaxAge:                 s.TTL,
		MaxBytes:               unlimited(s.MaxBytes),
		MaxMsgSize:             unlimited(s.MaxValueSize),
		MaxMsgsPerSubject:      int64(s.History),
		Discard:                jetstream.DiscardNew,
		Replicas:               s.Replicas,
		Placement:              s.Placement.config(),
		AllowDirect:            true,
		NoAck:                  silent,
		RePublish:              stored,
		AllowRollup:            s.Markers > 0 || !ours(s.Name),
		DenyDelete:             true,
		AllowMsgTTL:            s.Markers > 0,
		SubjectDeleteMarkerTTL: s.Markers,
	}
}

// ours reports whether a bucket is one of package names. Those allow no rollup, with
// which the right to write one key is the right to delete all keys, unless they have
// markers, which the server makes by rollup.
func ours(bucket string) bool {
	_, ok := Bucket(bucket)
	return ok
}

func unlimited[N int32 | int64](n N) N {
	if n <= 0 {
		return -1
	}
	return n
}
