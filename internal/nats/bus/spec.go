package bus

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
)

// A StreamSpec describes a stream with limits retention and its placement.
type StreamSpec struct {
	names.Stream
	Replicas  int       // 0: 1 for a new stream, unchanged for an existing one
	Placement Placement // zero: any servers for a new stream, unchanged for an existing one
	Ownership
}

// An Ownership says who may change an existing stream.
type Ownership struct {
	// Metadata of a new stream.
	Metadata map[string]string
	// May is called with the metadata of an existing stream before it is changed, and
	// returns why it must not be. Nil: it may be.
	May func(metadata map[string]string) error
}

// A Placement selects the servers of a cluster that keep a stream.
type Placement struct {
	Cluster string
	Tags    []string // a server must have all of them
}

func (p Placement) config() *jetstream.Placement {
	if p.Cluster == "" && len(p.Tags) == 0 {
		return nil
	}
	return &jetstream.Placement{Cluster: p.Cluster, Tags: p.Tags}
}

// A KVSpec describes a key-value bucket and its placement. Zero numbers mean no
// limit.
type KVSpec struct {
	names.Bucket
	History      int           // values kept per key; 0: 1 for a new bucket, unchanged for an existing one
	TTL          time.Duration // of every key; 0: keys do not expire
	MaxBytes     int64
	MaxValueSize int32 // bytes
	Replicas     int   // 0: 1 for a new bucket, unchanged for an existing one
	Placement    Placement
	Ownership
}

// Streams returns the streams of package names.
func Streams() []StreamSpec {
	var out []StreamSpec
	for _, s := range names.Streams() {
		out = append(out, StreamSpec{Stream: s})
	}
	return out
}

// Buckets returns the key-value buckets of package names.
func Buckets() []KVSpec {
	var out []KVSpec
	for _, s := range names.Buckets() {
		out = append(out, KVSpec{Bucket: s})
	}
	return out
}

// Bucket returns the default spec of one of the buckets of package names.
func Bucket(name string) (KVSpec, bool) {
	for _, b := range append(names.Buckets(), names.Responses()) {
		if b.Name == name {
			return KVSpec{Bucket: b}, true
		}
	}
	return KVSpec{}, false
}
