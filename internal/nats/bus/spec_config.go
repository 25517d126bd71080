package bus

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
)

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
