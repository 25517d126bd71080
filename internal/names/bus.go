package names

import (
	"strconv"
	"strings"
)

// SubjectPrefix is the beginning of every subject of Koldun.
const SubjectPrefix = "koldun.v1."

// JetStream streams.
const (
	// RequestStream holds accepted requests until their end: limits
	// retention, discard new. Subjects: RequestSubject.
	RequestStream = "KOLDUN_REQUESTS"
	// OutcomeStream keeps the terminal record of each request for a while.
	// Subjects: OutcomeSubject.
	OutcomeStream = "KOLDUN_OUTCOMES"

	// DeadStream keeps requests that no runner could serve, to be read and
	// replayed: one message for each. Subjects: DeadOf.
	DeadStream = "KOLDUN_DEAD"

	// RequestSubjects, OutcomeSubjects and DeadSubjects are what the streams
	// capture.
	RequestSubjects = "koldun.v1.req.>"
	OutcomeSubjects = "koldun.v1.end.>"
	DeadSubjects    = "koldun.v1.dead.>"
)

// JetStream key-value buckets.
const (
	ModelsBucket   = "koldun_models"   // ModelKey -> model record
	TokensBucket   = "koldun_tokens"   // TokenKey -> token record
	DemandBucket   = "koldun_demand"   // session -> demand, SlotKey -> slot, with per-key TTL
	RunnersBucket  = "koldun_runners"  // RunnerKey -> runner state, with per-key TTL
	LeasesBucket   = "koldun_leases"   // session -> leader and epoch, with per-key TTL
	ProgressBucket = "koldun_progress" // ProgressKey -> progress.Report
	// ResponsesBucket is made only where responses are stored: ResponseKey -> a response
	// and its input, with per-key TTL.
	ResponsesBucket = "koldun_responses"
	PoolsBucket     = "koldun_pools" // PoolKey -> members of a pool and why, with per-key TTL
)

// KVStream is the stream of a key-value bucket (NATS ADR-8).
func KVStream(bucket string) string { return "KV_" + bucket }

// KVSubject is the subject on which the values of a key are published. ">" stands for
// all keys of the bucket.
func KVSubject(bucket, key string) string { return "$KV." + bucket + "." + key }

// StoredSubject is where the server publishes each value of a key of an unacknowledged bucket
// when it is stored. ">" stands for all keys of the bucket.
func StoredSubject(bucket, key string) string { return SubjectPrefix + "stored." + bucket + "." + key }

// Session is the key of a pool of runners: one model, shared by all, or one
// model for one tenant or conversation when isolation is not empty. It is one
// NATS subject token and one KV key token.
func Session(namespace, model, isolation string) string {
	key := token(namespace) + "_" + token(model)
	if isolation != "" {
		key += "_" + Hash(16, isolation)
	}
	return key
}

// SessionOf reports whether key is the pool that all requests for a model share,
// or one of that model's isolated pools. Without this check a Dllama could join
// the pool of another model.
func SessionOf(key, shared string) bool {
	if key == shared {
		return true
	}
	apart, ok := strings.CutPrefix(key, shared+"_")
	return ok && len(apart) == 16 && strings.Trim(apart, "0123456789abcdef") == ""
}

// token keeps a name that is a DNS label and replaces others by a hashed label.
func token(s string) string { return Join(MaxLabel, s) }

// RequestSubject is where the gateway publishes a request of a tenant.
func RequestSubject(session, tenant string) string {
	return "koldun.v1.req." + session + "." + tenant
}

// OutcomeSubject is where the dispatcher publishes how a request ended.
func OutcomeSubject(session, tenant string) string {
	return "koldun.v1.end." + session + "." + tenant
}

// FramesSubject carries the frames of one request back to its gateway. It names the
// session, so that the rights of a runner can end at its session.
func FramesSubject(session, request string) string {
	return "koldun.v1.out." + session + "." + request
}

// AssignSubject is where a runner answers assignments (request and reply).
func AssignSubject(session, runner string) string {
	return "koldun.v1.run." + session + "." + runner
}

// CancelSubject is where dispatcher and runners of a session receive the order to
// drop a request.
func CancelSubject(session, request string) string {
	return "koldun.v1.cancel." + session + "." + request
}

// EndSubject is where a runner reports the end of an attempt to the leader of
// the session (request and reply).
func EndSubject(session string) string { return "koldun.v1.done." + session }

// DepthSubject is where the leader of a session answers how many requests have not
// ended (request and reply).
func DepthSubject(session string) string { return "koldun.v1.depth." + session }

// MembersSubject is where the leader of a session answers how the requests for a model, by
// ModelKey, are shared (request and reply).
func MembersSubject(session, model string) string {
	return "koldun.v1.members." + session + "." + model
}

// ModelKey is the key of a model in ModelsBucket.
func ModelKey(namespace, name string) string { return "model/" + namespace + "/" + name }

// TokenKey is the key of an API token in TokensBucket, by the SHA-256 of the
// token in lower-case hex.
func TokenKey(sha256hex string) string { return "token/" + sha256hex }

// SlotKeys matches the slots in DemandBucket. Keys of sessions hold no dot.
const SlotKeys = "slot.>"

// SlotKey is the key in DemandBucket of one of the slots for isolated pools of a
// namespace.
func SlotKey(namespace string, number int) string {
	return "slot." + token(namespace) + "." + strconv.Itoa(number)
}

// UseSubjects matches UseSubject of all namespaces.
const UseSubjects = "koldun.v1.use.*"

// UseSubject is where the gateways of a namespace exchange what API tokens have
// used.
func UseSubject(namespace string) string { return "koldun.v1.use." + token(namespace) }

// RunnerKey is the key of a runner in RunnersBucket.
func RunnerKey(session, runner string) string { return session + "." + runner }

// ResponseKey is the key of a stored response in ResponsesBucket.
func ResponseKey(tenant, id string) string { return tenant + "." + id }

// ProgressKey is the key of a stage's progress in ProgressBucket. The artifact
// is content-addressed, so that records of different contents never mix.
func ProgressKey(namespace, artifact, stage string) string {
	return namespace + "/" + artifact + "/" + stage
}

// OutcomeOf is the subject of the terminal record of one request: at most one
// message ever has it.
func OutcomeOf(session, tenant, request string) string {
	return OutcomeSubject(session, tenant) + "." + request
}

// DeadOf is the subject of the dead letter of one request.
func DeadOf(session, tenant, request string) string {
	return "koldun.v1.dead." + session + "." + tenant + "." + request
}

// SyncSubject is where a runner reports to a new leader of the session what it
// holds, and from then on refuses earlier leaders (request and reply).
func SyncSubject(session, runner string) string {
	return "koldun.v1.sync." + session + "." + runner
}

// FirstTokenSubject is where a runner reports to the leader of the session that an
// attempt has reached its first token, just before it sends that to the gateway.
func FirstTokenSubject(session string) string { return "koldun.v1.mark." + session }

// ResumeSubject asks the runner that holds a request to send its frames again.
func ResumeSubject(session, request string) string {
	return "koldun.v1.resume." + session + "." + request
}

// DrainSubject is where a running runner receives the order to take no more
// work, or to take work again (request and reply).
func DrainSubject(session, runner string) string {
	return "koldun.v1.drain." + session + "." + runner
}

// PoolKey is the key of a pool of a session in PoolsBucket. No two pools ever
// have the same id.
func PoolKey(session, id string) string { return session + "." + Hash(16, id) }

// Member is the name of the Dllama that is the member of a Session's pool.
func Member(session, member string) string { return Object(session, member) }

// SessionGroup names the group of a Session's runners. That of a Dllama is its name,
// which has no slash.
func SessionGroup(session string) string { return "session/" + session }

// Root is the name of a Dllama's root workload. It has one pod.
func Root(dllama string) string { return Object(dllama, "root") }

// Runner is the name of the runner in a pod, one subject token.
func Runner(namespace, pod string) string { return namespace + "_" + pod }

// MemberRunner is the name of the runner of a member of a Session's pool.
func MemberRunner(namespace, session, member string) string {
	return Runner(namespace, Root(Member(session, member))+"-0")
}
