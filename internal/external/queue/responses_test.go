package queue_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/internal/external/queue"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// stored is a queue of a namespace that stores responses in a bucket of a size.
func stored(namespace string, bytes int64) queue.Spec {
	markers := external.Duration(names.MarkerAge)
	return queue.Spec{
		Streams:   []stream.Spec{{Name: "WORK", Subjects: []string{"work.>"}, Owner: an("all")}},
		KeyValues: []keyvalue.Spec{{Bucket: names.ResponsesBucket, LimitMarkerTTL: &markers, MaxBytes: bytes, Owner: an(namespace)}},
	}
}

// TestNamespacesShareTheBucketOfResponses holds that queues of namespaces with a common
// login agree on the greatest size, and that none of them limits what others store.
func TestNamespacesShareTheBucketOfResponses(t *testing.T) {
	ctx := t.Context()
	b, c := client(t)
	// A gateway of an earlier version gave all responses one TTL.
	hour := external.Duration(time.Hour)
	if err := keyvalue.New(b, nil).Create(ctx, keyvalue.Spec{Bucket: names.ResponsesBucket, TTL: &hour, MaxBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name  string
		queue queue.Spec
		bytes int64
	}{
		{"First", stored("one", 2<<20), 2 << 20},
		{"Smaller", stored("two", 1), 2 << 20},
		{"Greater", stored("two", 4<<20), 4 << 20},
		{"FirstAgain", stored("one", 2<<20), 4 << 20},
	} {
		if err := c.Update(ctx, step.queue); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		have, err := b.Manager().ViewKV(ctx, names.ResponsesBucket)
		if err != nil {
			t.Fatal(err)
		}
		if have.MaxBytes != step.bytes || have.TTL != 0 || have.Markers != names.MarkerAge {
			t.Errorf("%s: the bucket is %+v", step.name, have)
		}
		if o, err := c.Observe(ctx, step.queue); err != nil || !o.UpToDate || !o.Ready {
			t.Errorf("%s: %+v, %v", step.name, o, err)
		}
		if seen, err := c.View(ctx, step.queue, external.SpecFields); err != nil || seen.KeyValues[0].MaxBytes != step.queue.KeyValues[0].MaxBytes {
			t.Errorf("%s: it is seen as %+v, %v, and would never agree with its spec", step.name, seen, err)
		}
	}
	hostile := stored("two", 8<<20)
	hostile.KeyValues[0].TTL = &hour
	if err := c.Update(ctx, hostile); !errors.Is(err, external.ErrNotOwner) {
		t.Errorf("a TTL for the responses of others: %v", err)
	}
	if err := c.Delete(ctx, stored("two", 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Manager().ViewKV(ctx, names.ResponsesBucket); fault.Is(err, fault.NotFound) {
		t.Error("a queue deletes the bucket of others")
	}
}
