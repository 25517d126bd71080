package dependents

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/requeue"
)

// TestListingsWaitOnlyAtTheStart lists a kind that is served late, and one that never is.
func TestListingsWaitOnlyAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKnown(requeue.NewTracker())
		listed := func(kind string) time.Duration {
			began := time.Now()
			if _, err := k.list(t.Context(), kind, "ns"); !fault.Is(err, fault.Transient) {
				t.Errorf("a kind that is not watched: %v", err)
			}
			return time.Since(began)
		}
		time.AfterFunc(time.Second, func() { k.found("Late") })
		for _, tc := range []struct {
			kind string
			want time.Duration
		}{{"Late", time.Second}, {"Never", starting}} {
			if got := listed(tc.kind); got != tc.want {
				t.Errorf("%s: the first listing waits for %s, want %s", tc.kind, got, tc.want)
			}
			if got := listed(tc.kind); got != 0 {
				t.Errorf("%s: another listing waits for %s", tc.kind, got)
			}
		}
	})
}
