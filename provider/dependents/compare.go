package dependents

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"

	"github.com/gorizond/koldun/internal/external"
)

// hashOf returns a hash of all fields of an object.
func hashOf(o external.Object) (string, error) {
	raw, err := json.Marshal(o) // maps are sorted
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), nil
}

// contains reports whether a value has all fields of another one. Other keys of
// its maps belong to other field managers.
func contains(have, want any) bool {
	if w, ok := want.(map[string]any); ok {
		h, ok := have.(map[string]any)
		for key, value := range w {
			if there, found := h[key]; !found || !contains(there, value) {
				return false
			}
		}
		return ok
	}
	if w, ok := want.([]any); ok {
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return false
		}
		for i := range w {
			if !contains(h[i], w[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(number(have), number(want))
}

// number returns a whole number as int64, whether it was decoded as float64 or
// int64.
func number(v any) any {
	if f, ok := v.(float64); ok && f == float64(int64(f)) {
		return int64(f)
	}
	return v
}
