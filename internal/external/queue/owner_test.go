package queue_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/internal/external/queue"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// an is the owner of a namespace that has its login in common with others.
func an(namespace string) external.Owner { return external.Owner{Namespace: namespace, Common: true} }

// exists reports whether a stream exists.
func exists(t *testing.T, b *bus.Bus, name string) bool {
	t.Helper()
	have, _, err := b.Manager().CompareStream(t.Context(), bus.StreamSpec{Stream: names.Stream{Name: name}})
	if err != nil {
		t.Fatal(err)
	}
	return have != nil
}

// attempt calls Observe, Create, Update and Delete, and returns their errors.
func attempt[S, O any](t *testing.T, c external.Client[S, O], s S) []error {
	t.Helper()
	ctx := t.Context()
	_, seen := c.Observe(ctx, s)
	return []error{seen, c.Create(ctx, s), c.Update(ctx, s), c.Delete(ctx, s)}
}

func TestNoNamespaceTouchesStreamsOfAnother(t *testing.T) {
	b, _ := client(t)
	ctx := t.Context()
	streams, buckets := stream.New(b, nil), keyvalue.New(b, nil)
	work := stream.Spec{Name: "WORK", Subjects: []string{"work.>"}, Owner: an("victim")}
	keys := keyvalue.Spec{Bucket: "keys", Owner: an("victim")}
	if err := errors.Join(streams.Create(ctx, work), buckets.Create(ctx, keys)); err != nil {
		t.Fatal(err)
	}
	smaller, younger := work, keys
	hour := external.Duration(time.Hour)
	smaller.MaxMsgs, smaller.Owner, younger.TTL, younger.Owner = 1, an("hostile"), &hour, an("hostile")
	for i, err := range append(attempt(t, streams, smaller), attempt(t, buckets, younger)...) {
		if !errors.Is(err, external.ErrNotOwner) {
			t.Errorf("call %d of another namespace: %v", i, err)
		}
	}
	// It may use them as they are, and its deletion leaves them.
	work.Owner, keys.Owner = an("hostile"), an("hostile")
	if o, err := streams.Observe(ctx, work); err != nil || !o.Ready {
		t.Errorf("the stream as it is: %+v, %v", o, err)
	}
	work.Owner.Deleting, keys.Owner.Deleting = true, true
	o, err1 := streams.Observe(ctx, work)
	k, err2 := buckets.Observe(ctx, keys)
	if err := errors.Join(err1, err2); err != nil || o.Exists || k.Exists {
		t.Errorf("at the deletion: %+v, %+v, %v", o, k, err)
	}
	// The owner may change and delete them.
	smaller.Owner, younger.Owner = an("victim"), an("victim")
	for i, err := range append(attempt(t, streams, smaller), attempt(t, buckets, younger)...) {
		if err != nil {
			t.Errorf("call %d of the owner: %v", i, err)
		}
	}
	if exists(t, b, "WORK") || exists(t, b, names.KVStream("keys")) {
		t.Error("the owner cannot delete them")
	}
}

// Koldun's own streams have no owner: all may use and enlarge them.
func TestNoNamespaceHarmsTheSharedQueue(t *testing.T) {
	b, c := client(t)
	ctx := t.Context()
	usual := func(owner string) queue.Spec {
		var s queue.Spec
		for _, n := range names.Streams() {
			s.Streams = append(s.Streams, stream.Spec{Name: n.Name, Subjects: n.Subjects, MaxBytes: 1 << 20, Owner: an(owner)})
		}
		s.KeyValues = []keyvalue.Spec{{Bucket: names.TokensBucket, Owner: an(owner)}}
		return s
	}
	if err := c.Create(ctx, usual("victim")); err != nil {
		t.Fatal(err)
	}
	hostile := usual("hostile")
	second := external.Duration(time.Second)
	for i := range hostile.Streams {
		s := &hostile.Streams[i]
		s.Subjects, s.MaxAge, s.MaxMsgsPerSubject, s.MaxMsgs, s.MaxBytes, s.Discard = []string{"mine." + s.Name}, &second, 1, 1, 2<<20, "old"
	}
	if err := c.Update(ctx, hostile); err != nil {
		t.Fatal(err)
	}
	have, _, err := b.Manager().CompareStream(ctx, bus.StreamSpec{Stream: names.Stream{Name: names.RequestStream}})
	if err != nil {
		t.Fatal(err)
	}
	if got := have.Config; got.Subjects[0] != names.RequestSubjects || got.MaxAge != names.RequestMaxAge || got.MaxMsgs > 0 || got.MaxBytes != 2<<20 {
		t.Errorf("the stream is %+v", got)
	}
	if err := c.Delete(ctx, hostile); err != nil {
		t.Fatal(err)
	}
	hostile.KeyValues[0].TTL = &second
	if err := c.Update(ctx, hostile); !errors.Is(err, external.ErrNotOwner) {
		t.Errorf("tokens that expire after a second: %v", err)
	}
	for _, s := range names.Streams() {
		if !exists(t, b, s.Name) {
			t.Errorf("stream %s is gone", s.Name)
		}
	}
	if !exists(t, b, names.KVStream(names.TokensBucket)) {
		t.Error("the bucket of tokens is gone")
	}
}
