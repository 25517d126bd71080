package s3test

import (
	"encoding/xml"
	"io"
	"net/http"
	"strings"
	"sync"
)

// maxRules and maxRuleID are Amazon's limits of a lifecycle configuration.
const (
	maxRules  = 1000
	maxRuleID = 255
)

// lifecycle has the checked fields of a configuration (docs.aws.amazon.com,
// "PutBucketLifecycleConfiguration").
type lifecycle struct {
	XMLName xml.Name `xml:"LifecycleConfiguration"`
	Rules   []struct {
		ID         string
		Status     string
		Filter     *struct{ Prefix string }
		Expiration *struct{ Days int }
		Noncurrent *struct {
			Days int `xml:"NoncurrentDays"`
		} `xml:"NoncurrentVersionExpiration"`
	} `xml:"Rule"`
}

func (l lifecycle) valid() bool {
	seen := map[string]bool{}
	for _, r := range l.Rules {
		switch {
		case len(r.ID) > maxRuleID || seen[r.ID] || r.Filter == nil:
			return false
		case r.Status != "Enabled" && r.Status != "Disabled":
			return false
		case r.Expiration == nil && r.Noncurrent == nil:
			return false
		case r.Expiration != nil && r.Expiration.Days <= 0 || r.Noncurrent != nil && r.Noncurrent.Days <= 0:
			return false
		}
		seen[r.ID] = true
	}
	return len(l.Rules) > 0 && len(l.Rules) <= maxRules
}

// Lifecycles stores the lifecycle rules of buckets, which the gateway does not
// implement. It does not apply them.
func Lifecycles() Handler {
	var mu sync.Mutex
	kept := map[string][]byte{}
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !r.URL.Query().Has("lifecycle") {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		bucket := strings.Trim(r.URL.Path, "/")
		switch r.Method {
		case http.MethodPut:
			var l lifecycle
			raw, err := io.ReadAll(r.Body)
			if err != nil || xml.Unmarshal(raw, &l) != nil || !l.valid() {
				fail(w, http.StatusBadRequest, "MalformedXML")
				return true
			}
			kept[bucket] = raw
		case http.MethodDelete:
			delete(kept, bucket)
			w.WriteHeader(http.StatusNoContent)
		case http.MethodGet:
			if kept[bucket] == nil {
				fail(w, http.StatusNotFound, "NoSuchLifecycleConfiguration")
				return true
			}
			w.Header().Set("Content-Type", "application/xml")
			_, _ = w.Write(kept[bucket])
		default:
			fail(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
		}
		return true
	}
}
