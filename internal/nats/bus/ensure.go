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
func (s *streams) Ensure(ctx context.Context) error {
	for _, spec := range Streams() {
		if err := s.ensure(ctx, spec.config(), adopt, true, nil); err != nil {
			return err
		}
	}
	for _, spec := range Buckets() {
		if err := s.AdoptKV(ctx, spec); err != nil {
			return err
		}
	}
	return nil
}

// EnsureStream creates a stream, or updates it in place, to match the spec.
func (s *streams) EnsureStream(ctx context.Context, spec StreamSpec) error {
	return s.ensure(ctx, spec.config(), replace, false, spec.May)
}

// EnsureKV creates a bucket, or updates it in place, to match the spec.
func (s *streams) EnsureKV(ctx context.Context, spec KVSpec) error {
	return s.ensure(ctx, spec.config(), replace, false, spec.May)
}

// AdoptKV creates a bucket if it is missing, and keeps the limits of an existing one.
func (s *streams) AdoptKV(ctx context.Context, spec KVSpec) error {
	return s.ensure(ctx, spec.config(), adopt, true, nil)
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
func (s *streams) ensure(ctx context.Context, want jetstream.StreamConfig, m merge, patient bool, may func(map[string]string) error) error {
	for attempt := 0; ; attempt++ {
		err := s.ensureOnce(ctx, want, m, may)
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
			s.conn.log.Warn("cannot make a JetStream stream yet", "stream", want.Name, "error", err)
		}
		select {
		case <-ctx.Done():
			return fault.Errorf(KindAtEnd(ctx, err), "cannot make JetStream stream %q: %w", want.Name, err)
		case <-time.After(pause):
		}
	}
}

func (s *streams) ensureOnce(ctx context.Context, want jetstream.StreamConfig, m merge, may func(map[string]string) error) error {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	stream, err := s.stream(ctx, want.Name)
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
		_, err = permitted(ctx, &s.conn.permits, streamAPI+"CREATE."+want.Name, func(ctx context.Context) (jetstream.Stream, error) {
			return s.conn.js.CreateStream(ctx, want)
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
	_, err = permitted(ctx, &s.conn.permits, streamAPI+"UPDATE."+want.Name, func(ctx context.Context) (jetstream.Stream, error) {
		return s.conn.js.UpdateStream(ctx, next)
	})
	return Kinded(err)
}
