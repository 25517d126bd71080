package registry

import (
	"regexp"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// A Token is the record of one API token. The token itself is nowhere.
type Token struct {
	Version  int               `json:"version"` // of the schema; 0 is 1
	SHA256   string            `json:"sha256"`  // of the token, lower-case hex
	Disabled bool              `json:"disabled,omitempty"`
	Expires  time.Time         `json:"expires,omitzero"` // zero: never
	Metadata map[string]string `json:"metadata,omitempty"`
	// Models lists the models it may ask: "namespace/name", "namespace/*" or
	// "*". Empty means all.
	Models []string `json:"models,omitempty"`
}

// Key is the token's key in the table.
func (t Token) Key() string { return names.TokenKey(t.SHA256) }

// Valid reports whether the token may be used at the moment now.
func (t Token) Valid(now time.Time) bool {
	return !t.Disabled && (t.Expires.IsZero() || now.Before(t.Expires))
}

// Allows reports whether the token may ask the model "namespace/name".
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

func (t Token) check(key string) error {
	switch {
	case t.Version > recordVersion:
		return newer(t.Version)
	case !sha256hex.MatchString(t.SHA256):
		return fault.Errorf(fault.Invalid, "its digest is not a SHA-256 in lower-case hex")
	case t.Key() != key:
		return fault.Errorf(fault.Invalid, "it is the record of another token")
	}
	return nil
}
