package bus

import (
	"time"

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
	Dedupe   time.Duration
	Replicas int // 0: 1 for a new stream, as it is for an existing one
}

// A KVSpec describes a key-value bucket. Zero numbers mean no limit.
type KVSpec struct {
	Bucket      string
	Description string
	History     int           // values kept per key, 0 is 1
	TTL         time.Duration // of every key; 0: keys stay
	// Markers makes TTLs per key possible and lets watchers see each expiry
	// by a marker that is kept this long, at least a second. 0: neither.
	Markers      time.Duration
	MaxBytes     int64
	MaxValueSize int32 // bytes
	Replicas     int   // 0: 1 for a new bucket, as it is for an existing one
}

const (
	// RequestMaxAge is how long the request stream keeps a request at most. A
	// dispatcher ends requests before, so that none vanishes in silence.
	RequestMaxAge = 24 * time.Hour
	// OutcomeMaxAge is how long terminal records can be looked up.
	OutcomeMaxAge = 72 * time.Hour
	// RequestMaxSize is the largest request in bytes, envelope included.
	RequestMaxSize = 8 << 20

	// JetStream reserves these bytes on disk, so they fit a small one.
	requestMaxBytes  = 256 << 20
	outcomeMaxBytes  = 64 << 20
	requestMaxMsgs   = 20_000
	requestPerTenant = 10_000
	requestDedupe    = 10 * time.Minute
	markerAge        = time.Minute
)

// Streams are the streams of names/bus.go with their default limits.
func Streams() []StreamSpec {
	return []StreamSpec{
		{
			Name:          names.RequestStream,
			Description:   "Koldun: accepted requests until their end",
			Subjects:      []string{names.RequestSubjects},
			MaxAge:        RequestMaxAge,
			MaxBytes:      requestMaxBytes,
			MaxMsgs:       requestMaxMsgs,
			MaxMsgSize:    RequestMaxSize,
			MaxPerSubject: requestPerTenant,
			DiscardNew:    true,
			Dedupe:        requestDedupe,
		},
		{
			Name:        names.OutcomeStream,
			Description: "Koldun: how each request ended",
			Subjects:    []string{names.OutcomeSubjects},
			MaxAge:      OutcomeMaxAge,
			MaxBytes:    outcomeMaxBytes,
		},
	}
}

// Buckets are the key-value buckets of names/bus.go with their defaults.
func Buckets() []KVSpec {
	return []KVSpec{
		{Bucket: names.ModelsBucket, Description: "Koldun: models"},
		{Bucket: names.TokensBucket, Description: "Koldun: API tokens, by hash"},
		{Bucket: names.DemandBucket, Description: "Koldun: sessions in demand", Markers: markerAge},
		{Bucket: names.RunnersBucket, Description: "Koldun: runner states", Markers: markerAge},
		{Bucket: names.LeasesBucket, Description: "Koldun: who leads which session", Markers: markerAge},
		{Bucket: names.ProgressBucket, Description: "Koldun: progress of fetches and conversions"},
	}
}

// Bucket is the default spec of one of the buckets of names/bus.go.
func Bucket(name string) (KVSpec, bool) {
	for _, s := range Buckets() {
		if s.Bucket == name {
			return s, true
		}
	}
	return KVSpec{}, false
}
