package bus

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"
)

// put is a write of a key as a watch reports it.
type put struct {
	revision uint64
	created  time.Time
	value    string
}

func (p put) Bucket() string                  { return "bucket" }
func (p put) Key() string                     { return "key" }
func (p put) Value() []byte                   { return fmt.Appendf(nil, "%q", p.value) }
func (p put) Revision() uint64                { return p.revision }
func (p put) Created() time.Time              { return p.created }
func (p put) Delta() uint64                   { return 0 }
func (p put) Operation() jetstream.KeyValueOp { return jetstream.KeyValuePut }

// TestWatchOfARestoredStore lists a key again after the connection was lost: it is reported
// once, unless the store was restored meanwhile and gave its revision to another value.
func TestWatchOfARestoredStore(t *testing.T) {
	t.Parallel()
	var got []string
	w := &watcher[string]{known: map[string]version{}, handle: func(e Event[string]) { got = append(got, e.Value) }}
	now := time.Now()
	for _, p := range []put{{2, now, "allowed"}, {2, now, "allowed"}, {2, now.Add(time.Second), "revoked"}, {2, now.Add(time.Second), "revoked"}} {
		w.notify(p)
	}
	if diff := cmp.Diff([]string{"allowed", "revoked"}, got); diff != "" {
		t.Error(diff)
	}
}
