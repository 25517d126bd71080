package names

import "time"

const (
	// RequestMaxAge is how long the request stream keeps a request at most. A
	// dispatcher ends each request before, so that none expires without an
	// outcome.
	RequestMaxAge = 24 * time.Hour
	// OutcomeMaxAge is how long terminal records can be looked up.
	OutcomeMaxAge = 72 * time.Hour
	// DeadMaxAge is how long dead letters can be read and replayed. They hold
	// prompts, so it is short.
	DeadMaxAge = 7 * 24 * time.Hour
	// MarkerAge is how long a watcher that was away can still learn that a key
	// expired.
	MarkerAge = time.Minute
	// RequestMaxSize is the largest request in bytes, envelope included.
	RequestMaxSize = 8 << 20
	// ParsedBytes is how many bytes of bodies a gateway parses at the same time: one of the
	// largest, and small ones.
	ParsedBytes = RequestMaxSize + 2<<20
	// RequestMaxBytes is the size of all requests that wait in a new queue, unless an
	// Ingress sets another one. The text of spec.backend.queue.maxBytes repeats it. A
	// server with 512 MiB for JetStream accepts it and the other streams.
	RequestMaxBytes = 256 << 20

	// RequestMaxCount is the number of requests that wait or run in a queue at most.
	RequestMaxCount = 20_000

	// WaitingConnections is how many connections of a server wait for their client at most:
	// for the header or the body of a request, or for the next one. See httpserver.Options.
	WaitingConnections = 2048
	// Sockets is how many WebSockets a gateway has open at most.
	Sockets = 256

	// ResponsesMaxBytes is the size of all stored responses, unless an Ingress sets
	// another one. The text of spec.backend.responses.maxBytes repeats it.
	ResponsesMaxBytes = 256 << 20

	// JetStream reserves the bytes of every stream on disk, so these are few.
	outcomeMaxBytes  = 128 << 20
	deadMaxBytes     = 64 << 20
	requestPerTenant = 10_000
	requestDedupe    = 10 * time.Minute
)

// A Stream describes a JetStream stream of Koldun and its default limits. Zero
// numbers mean no limit. The functions, which compose streams, and the bus, which
// creates those that are missing, read the same numbers here.
type Stream struct {
	Name          string
	Description   string
	Subjects      []string
	MaxAge        time.Duration
	MaxBytes      int64
	MaxMsgs       int64
	MaxMsgSize    int32 // bytes
	MaxPerSubject int64
	DiscardNew    bool          // refuse what is over a limit, MaxPerSubject included; otherwise the oldest go
	Dedupe        time.Duration // in which a Nats-Msg-Id counts once; 0 is the server's two minutes
}

// A Bucket is a JetStream key-value bucket of Koldun.
type Bucket struct {
	Name        string
	Description string
	// Unacknowledged says that the server answers no write: it would answer on any subject
	// that a writer names, which for writers with few rights could be one that they may not
	// use. It publishes what it has stored on StoredSubject instead.
	Unacknowledged bool
	// Markers is how long a watcher can learn that a key expired, at least a
	// second; with it, each key can have a TTL of its own. 0: neither.
	Markers time.Duration
}

// Streams returns all streams.
func Streams() []Stream {
	return []Stream{
		{
			Name:          RequestStream,
			Description:   "Koldun: accepted requests until their end",
			Subjects:      []string{RequestSubjects},
			MaxAge:        RequestMaxAge,
			MaxBytes:      RequestMaxBytes,
			MaxMsgs:       RequestMaxCount,
			MaxMsgSize:    RequestMaxSize,
			MaxPerSubject: requestPerTenant,
			DiscardNew:    true,
			Dedupe:        requestDedupe,
		},
		{
			Name:        OutcomeStream,
			Description: "Koldun: how each request ended",
			Subjects:    []string{OutcomeSubjects},
			MaxAge:      OutcomeMaxAge,
			MaxBytes:    outcomeMaxBytes,
		},
		{
			Name:          DeadStream,
			Description:   "Koldun: requests that no runner could serve",
			Subjects:      []string{DeadSubjects},
			MaxAge:        DeadMaxAge,
			MaxBytes:      deadMaxBytes,
			MaxPerSubject: 1,
		},
	}
}

// Buckets returns the key-value buckets of every queue.
func Buckets() []Bucket {
	return []Bucket{
		{Name: ModelsBucket, Description: "Koldun: models"},
		{Name: TokensBucket, Description: "Koldun: API tokens, by hash"},
		{Name: DemandBucket, Description: "Koldun: sessions in demand", Markers: MarkerAge},
		{Name: RunnersBucket, Description: "Koldun: runner states", Unacknowledged: true, Markers: MarkerAge},
		{Name: LeasesBucket, Description: "Koldun: who leads which session", Markers: MarkerAge},
		{Name: PoolsBucket, Description: "Koldun: members of pools", Markers: MarkerAge},
		{Name: ProgressBucket, Description: "Koldun: progress of fetches and conversions", Unacknowledged: true},
	}
}

// Responses returns the bucket of stored responses, which exists only where some are
// stored. Each gateway gives its keys a TTL of their own.
func Responses() Bucket {
	return Bucket{Name: ResponsesBucket, Description: "Koldun: responses for later requests", Markers: MarkerAge}
}
