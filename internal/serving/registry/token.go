package registry

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// MinTokenBytes is the length of the shortest token that gateways accept: the hash of a shorter
// one gives it away to anyone who tries them all.
const MinTokenBytes = 16

// A Token is the record of one API token. It does not contain the token itself.
type Token struct {
	Version  int               `json:"version"` // of the schema; 0 is 1
	SHA256   string            `json:"sha256"`  // of the token, lower-case hex
	Disabled bool              `json:"disabled,omitempty"`
	Expires  time.Time         `json:"expires,omitzero"` // zero: never
	Metadata map[string]string `json:"metadata,omitempty"`
	// Models lists the models that the token may use: "namespace/name",
	// "namespace/*" or "*". Empty means all.
	Models []string `json:"models,omitempty"`
	// Limits of this token; where one is 0, or greater than the gateway's, the
	// gateway's limit applies.
	Limits Limits `json:"limits,omitzero"`

	Namespace string `json:"namespace,omitempty"` // where the token comes from
	// Tenant is that of several tokens of the namespace, which share limits. Empty: the
	// token is a tenant of its own.
	Tenant  string    `json:"tenant,omitempty"`
	Created time.Time `json:"created,omitzero"`
	// Only Owner changes or removes the record. Empty: there is no owner.
	Owner string `json:"owner,omitempty"`
}

// Limits are the limits of one API token; 0 is no limit.
type Limits struct {
	RequestsPerMinute  int   `json:"requestsPerMinute,omitempty"`
	TokensPerMinute    int64 `json:"tokensPerMinute,omitempty"`    // of prompts and answers
	ConcurrentRequests int   `json:"concurrentRequests,omitempty"` // queued or running
}

// Or returns l with the limits of otherwise where l has none.
func (l Limits) Or(otherwise Limits) Limits {
	return Limits{
		RequestsPerMinute:  cmp.Or(l.RequestsPerMinute, otherwise.RequestsPerMinute),
		TokensPerMinute:    cmp.Or(l.TokensPerMinute, otherwise.TokensPerMinute),
		ConcurrentRequests: cmp.Or(l.ConcurrentRequests, otherwise.ConcurrentRequests),
	}
}

// Within returns l, lowered to most where l has no limit or a greater one.
func (l Limits) Within(most Limits) Limits {
	return Limits{
		RequestsPerMinute:  stricter(l.RequestsPerMinute, most.RequestsPerMinute),
		TokensPerMinute:    stricter(l.TokensPerMinute, most.TokensPerMinute),
		ConcurrentRequests: stricter(l.ConcurrentRequests, most.ConcurrentRequests),
	}
}

// stricter returns the lower of two limits; 0 is none.
func stricter[N int | int64](a, b N) N {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// negative reports whether a limit is below 0.
func (l Limits) negative() bool {
	return l.RequestsPerMinute < 0 || l.TokensPerMinute < 0 || l.ConcurrentRequests < 0
}

// Key returns the token's key in the table.
func (t Token) Key() string { return names.TokenKey(t.SHA256) }

// Valid reports whether the token is enabled and not expired at the time now.
func (t Token) Valid(now time.Time) bool {
	return !t.Disabled && (t.Expires.IsZero() || now.Before(t.Expires))
}

// Allows reports whether the token may use the model "namespace/name".
func (t Token) Allows(id string) bool {
	if len(t.Models) == 0 {
		return true
	}
	namespace, _, _ := strings.Cut(id, "/")
	for _, pattern := range t.Models {
		if pattern == "*" || pattern == id || pattern == namespace+"/*" {
			return true
		}
	}
	return false
}

var sha256hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

// TokensIn is like Tokens with another bucket, or another prefix than "token/".
// "" means the default.
func TokensIn(b *bus.Bus, bucket, prefix string) *Table[Token] {
	usual := Token{}.Key()
	prefix = cmp.Or(prefix, usual)
	check := func(t Token, key string) error {
		digest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			return fault.Errorf(fault.Invalid, "the key does not begin with %q", prefix)
		}
		return t.check(usual + digest)
	}
	return &Table[Token]{bus: b, bucket: cmp.Or(bucket, names.TokensBucket), check: check}
}

func (t Token) check(key string) error {
	switch {
	case t.Version > recordVersion:
		return newer(t.Version)
	case !sha256hex.MatchString(t.SHA256):
		return fault.Errorf(fault.Invalid, "its digest is not a SHA-256 in lower-case hex")
	case t.Key() != key:
		return fault.Errorf(fault.Invalid, "it is the record of another token")
	case t.Limits.negative():
		return fault.Errorf(fault.Invalid, "a limit is below 0")
	}
	return nil
}
