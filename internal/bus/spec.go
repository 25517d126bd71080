package bus

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
)

// A StreamSpec describes a stream with limits retention, and where it is kept.
type StreamSpec struct {
	names.Stream
	Replicas  int       // 0: 1 for a new stream, as it is for an existing one
	Placement Placement // zero: where the servers like for a new stream, as it is for an existing one
}

// A Placement says which servers of a cluster keep a stream.
type Placement struct {
	Cluster string
	Tags    []string // all of which a server must have
}

func (p Placement) config() *jetstream.Placement {
	if p.Cluster == "" && len(p.Tags) == 0 {
		return nil
	}
	return &jetstream.Placement{Cluster: p.Cluster, Tags: p.Tags}
}

// A KVSpec describes a key-value bucket, and where it is kept. Zero numbers
// mean no limit.
type KVSpec struct {
	names.Bucket
	History      int           // values kept per key; 0: 1 for a new bucket, as it is for an existing one
	TTL          time.Duration // of every key; 0: keys stay
	MaxBytes     int64
	MaxValueSize int32 // bytes
	Replicas     int   // 0: 1 for a new bucket, as it is for an existing one
	Placement    Placement
}

// Streams are the streams of package names.
func Streams() []StreamSpec {
	var out []StreamSpec
	for _, s := range names.Streams() {
		out = append(out, StreamSpec{Stream: s})
	}
	return out
}

// Buckets are the key-value buckets of package names.
func Buckets() []KVSpec {
	var out []KVSpec
	for _, s := range names.Buckets() {
		out = append(out, KVSpec{Bucket: s})
	}
	return out
}

// Bucket is the default spec of one of the buckets of package names.
func Bucket(name string) (KVSpec, bool) {
	for _, s := range Buckets() {
		if s.Name == name {
			return s, true
		}
	}
	return KVSpec{}, false
}
