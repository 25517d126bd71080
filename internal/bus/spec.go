package bus

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
)

// A StreamSpec describes a stream with limits retention. Zero numbers mean no
// limit, except where a field says otherwise.
type StreamSpec struct {
	Name          string
	Description   string
	Subjects      []string
	MaxAge        time.Duration
	MaxBytes      int64
	MaxMsgs       int64
	MaxMsgSize    int32 // bytes
	MaxPerSubject int64
	// DiscardNew refuses messages over a limit, MaxPerSubject included;
	// otherwise the oldest go.
	DiscardNew bool
	// Dedupe is how long a Nats-Msg-Id is remembered; 0 is the server's two minutes.
	Dedupe    time.Duration
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

// A KVSpec describes a key-value bucket. Zero numbers mean no limit.
type KVSpec struct {
	Bucket      string
	Description string
	History     int           // values kept per key; 0: 1 for a new bucket, as it is for an existing one
	TTL         time.Duration // of every key; 0: keys stay
	// Markers makes TTLs per key possible and lets watchers see each expiry
	// by a marker that is kept this long, at least a second. 0: neither.
	Markers      time.Duration
	MaxBytes     int64
	MaxValueSize int32 // bytes
	Replicas     int   // 0: 1 for a new bucket, as it is for an existing one
	Placement    Placement
}

// Streams are the streams of package names.
func Streams() []StreamSpec {
	var out []StreamSpec
	for _, s := range names.Streams() {
		out = append(out, StreamSpec{
			Name:          s.Name,
			Description:   s.Description,
			Subjects:      s.Subjects,
			MaxAge:        s.MaxAge,
			MaxBytes:      s.MaxBytes,
			MaxMsgs:       s.MaxMsgs,
			MaxMsgSize:    s.MaxMsgSize,
			MaxPerSubject: s.MaxPerSubject,
			DiscardNew:    s.DiscardNew,
			Dedupe:        s.Dedupe,
		})
	}
	return out
}

// Buckets are the key-value buckets of package names.
func Buckets() []KVSpec {
	var out []KVSpec
	for _, s := range names.Buckets() {
		out = append(out, KVSpec{Bucket: s.Name, Description: s.Description, Markers: s.Markers})
	}
	return out
}

// Bucket is the default spec of one of the buckets of package names.
func Bucket(name string) (KVSpec, bool) {
	for _, s := range Buckets() {
		if s.Bucket == name {
			return s, true
		}
	}
	return KVSpec{}, false
}
