package token

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// Limits of the values in a Secret.
const (
	maxToken    = 4096 // bytes
	maxMetadata = 64   // entries
	maxModels   = 256
)

// LabelSecret marks the Secrets that hold tokens: see Truthy.
const LabelSecret = "koldun.gorizond.io/token"

// AnnotationDisabled on a Secret refuses its token, as its key "disabled" does.
const AnnotationDisabled = "koldun.gorizond.io/token-disabled"

// A Secret holds a token or its hash. Of its keys these are read:
//
//	token     the token; one line end behind it is not part of it
//	hash      its SHA-256 in hex; with token, both have to agree
//	disabled  whether it is refused: see Truthy
//	expires   when it ends, RFC 3339
//	models    models it may ask, NAMESPACE/NAME, by commas or white space
//	metadata  a JSON object with more information about the token
//	requestsPerMinute, tokensPerMinute, concurrentRequests  its limits
type Secret external.Secret

// Truthy reports whether a label or value means yes: 1, true, yes, y or on, in
// any case of letters.
func Truthy(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "1", "true", "yes", "y", "on":
		return true
	}
	return false
}

// Digest returns the SHA-256 of a token, which identifies it, in lower-case hex.
func Digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Parse returns the record of the token in a Secret. Its errors are Invalid, and
// contain no part of the token.
func Parse(s Secret) (registry.Token, error) {
	var t registry.Token
	var err error
	if t.SHA256, err = s.digest(); err != nil {
		return registry.Token{}, err
	}
	t.Disabled = Truthy(string(s.Data["disabled"])) || Truthy(s.Annotations[AnnotationDisabled])
	if v := s.text("expires"); v != "" {
		if t.Expires, err = time.Parse(time.RFC3339, v); err != nil {
			return registry.Token{}, wrong("expires", "no time such as 2027-01-31T00:00:00Z")
		}
		t.Expires = t.Expires.UTC()
	}
	t.Models = strings.FieldsFunc(s.text("models"), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' || r == '\r' })
	if len(t.Models) > maxModels {
		return registry.Token{}, wrong("models", "more than 256 models")
	}
	if t.Metadata, err = s.metadata(); err != nil {
		return registry.Token{}, err
	}
	t.Limits, err = s.limits()
	return t, err
}

func (s Secret) text(key string) string { return strings.TrimSpace(string(s.Data[key])) }

func (s Secret) digest() (string, error) {
	token := strings.TrimSuffix(strings.TrimSuffix(string(s.Data["token"]), "\n"), "\r")
	hash := strings.ToLower(s.text("hash"))
	switch {
	case token == "" && hash == "":
		return "", fault.Errorf(fault.Invalid, `it has neither the key "token" nor the key "hash"`)
	case hash != "" && !digest.MatchString(hash):
		return "", wrong("hash", "no SHA-256 in hex: 64 digits")
	case token == "":
		return hash, refuseGuessed(hash, `the value of key "hash"`)
	case len(token) < registry.MinTokenBytes || len(token) > maxToken:
		return "", wrong("token", "too short or too long: 16 to 4096 bytes are allowed")
	case hash != "" && hash != Digest(token):
		return "", wrong("hash", "not the SHA-256 of the token")
	}
	return Digest(token), nil
}

// metadata converts values that are not strings to JSON.
func (s Secret) metadata() (map[string]string, error) {
	raw := s.Data["metadata"]
	if len(strings.TrimSpace(string(raw))) == 0 {
		return nil, nil
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil || len(values) > maxMetadata {
		return nil, wrong("metadata", "no JSON object of at most 64 entries")
	}
	out := make(map[string]string, len(values))
	for key, value := range values {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		out[key] = text
	}
	return out, nil
}

func (s Secret) limits() (l registry.Limits, err error) {
	number := func(key string) int64 {
		v := s.text(key)
		if v == "" || err != nil {
			return 0
		}
		n, bad := strconv.ParseInt(v, 10, 32)
		if bad != nil || n < 0 {
			err = wrong(key, "no number from 0 on")
		}
		return n
	}
	l = registry.Limits{
		RequestsPerMinute:  int(number("requestsPerMinute")),
		TokensPerMinute:    number("tokensPerMinute"),
		ConcurrentRequests: int(number("concurrentRequests")),
	}
	return l, err
}

func wrong(key, what string) error {
	return fault.Errorf(fault.Invalid, "the value of its key %q is %s", key, what)
}
