package manager_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/nats-io/nats.go/jetstream"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// text returns a value as JSON.
func text(v any) (string, error) {
	raw, err := json.Marshal(v)
	return string(raw), err
}

// streamText returns the configuration, creation time and state of a stream as text.
func streamText(w *tenant, name string) (string, error) {
	s, err := w.account.bus().JetStream().Stream(w.t.Context(), name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	info := s.CachedInfo()
	return text([]any{info.Config, info.Created, info.State.Msgs, info.State.LastSeq})
}

// streamIs returns an error unless the stream exists and ok accepts it.
func streamIs(w *tenant, name string, ok func(jetstream.StreamConfig) bool) error {
	s, err := w.account.bus().JetStream().Stream(w.t.Context(), name)
	if err != nil {
		return err
	}
	if c := s.CachedInfo().Config; !ok(c) {
		return fmt.Errorf("the stream is %+v", c)
	}
	return nil
}

// unusualStream returns the configuration of a stream with the name's subjects and
// unusual values in all other fields.
func unusualStream(name string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: name, Subjects: []string{name + ".>"}, Description: "of another client", Metadata: map[string]string{"team": "a"},
		MaxMsgs: 10, MaxBytes: 1 << 20, MaxMsgSize: 1 << 10, MaxAge: time.Hour, Duplicates: 10 * time.Minute, MaxConsumers: 7,
		Discard: jetstream.DiscardNew, Compression: jetstream.S2Compression,
	}
}

// put creates a stream with one message.
func (a *account) put(c jetstream.StreamConfig) {
	a.t.Helper()
	js := a.bus().JetStream()
	if _, err := js.CreateStream(a.t.Context(), c); err != nil {
		a.t.Fatal(err)
	}
	if _, err := js.Publish(a.t.Context(), c.Name+".a", []byte("kept")); err != nil {
		a.t.Fatal(err)
	}
}

func streamLifecycle() lifecycle {
	has := func(n int64) func(jetstream.StreamConfig) bool {
		return func(c jetstream.StreamConfig) bool { return c.MaxMsgs == n && c.Subjects[0] == c.Name+".>" }
	}
	return lifecycle{
		server: onNATS,
		resource: func(w *tenant, name string) resource.ModernManaged {
			return &v1alpha1.Stream{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.StreamSpec{
				ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.StreamParameters{Name: name, Subjects: []string{name + ".>"}, MaxMsgs: new(int64(10))},
			}}
		},
		read:    streamText,
		matches: func(w *tenant, name string) error { return streamIs(w, name, has(10)) },
		update: func(_ *tenant, m resource.ModernManaged) {
			m.(*v1alpha1.Stream).Spec.ForProvider.MaxMsgs = new(int64(20))
		},
		updated: func(w *tenant, _ resource.ModernManaged, name string) error { return streamIs(w, name, has(20)) },
		drift: func(w *tenant, name string) {
			if _, err := w.account.bus().JetStream().UpdateStream(w.t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{"other." + name}}); err != nil {
				w.t.Fatal(err)
			}
		},
		exist: func(w *tenant, name string) { w.account.put(unusualStream(name)) },
	}
}

func keyValueLifecycle() lifecycle {
	has := func(size int32) func(jetstream.StreamConfig) bool {
		return func(c jetstream.StreamConfig) bool { return c.MaxMsgSize == size }
	}
	return lifecycle{
		server: onNATS,
		resource: func(w *tenant, name string) resource.ModernManaged {
			return &v1alpha1.KeyValue{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.KeyValueSpec{
				ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.KeyValueParameters{Bucket: name, MaxValueSize: new(int32(1000))},
			}}
		},
		read:    func(w *tenant, name string) (string, error) { return streamText(w, "KV_"+name) },
		matches: func(w *tenant, name string) error { return streamIs(w, "KV_"+name, has(1000)) },
		update: func(_ *tenant, m resource.ModernManaged) {
			m.(*v1alpha1.KeyValue).Spec.ForProvider.MaxValueSize = new(int32(2000))
		},
		updated: func(w *tenant, _ resource.ModernManaged, name string) error {
			return streamIs(w, "KV_"+name, has(2000))
		},
		drift: func(w *tenant, name string) {
			if err := w.account.bus().JetStream().DeleteKeyValue(w.t.Context(), name); err != nil {
				w.t.Fatal(err)
			}
		},
		exist: unusualBucket,
	}
}

// unusualBucket creates a key-value bucket with one value, and with values other
// than the defaults in many fields.
func unusualBucket(w *tenant, name string) {
	w.t.Helper()
	kv, err := w.account.bus().JetStream().CreateKeyValue(w.t.Context(), jetstream.KeyValueConfig{
		Bucket: name, Description: "of another client", MaxValueSize: 1000, History: 3, TTL: time.Hour, MaxBytes: 1 << 20,
		LimitMarkerTTL: time.Minute, Compression: true, Metadata: map[string]string{"team": "a"},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := kv.PutString(w.t.Context(), "a", "kept"); err != nil {
		w.t.Fatal(err)
	}
}

func queueLifecycle() lifecycle {
	has := func(n int64) func(jetstream.StreamConfig) bool {
		return func(c jetstream.StreamConfig) bool { return c.MaxMsgs == n }
	}
	return lifecycle{
		server: onNATS,
		resource: func(w *tenant, name string) resource.ModernManaged {
			return &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.QueueSpec{
				ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.QueueParameters{
					Streams:   []v1alpha1.StreamParameters{{Name: name, Subjects: []string{name + ".>"}, MaxMsgs: new(int64(10))}},
					KeyValues: []v1alpha1.KeyValueParameters{{Bucket: name + "-keys"}},
				},
			}}
		},
		read: func(w *tenant, name string) (string, error) {
			a, err1 := streamText(w, name)
			b, err2 := streamText(w, "KV_"+name+"-keys")
			return a + b, errors.Join(err1, err2)
		},
		matches: func(w *tenant, name string) error {
			return errors.Join(streamIs(w, name, has(10)), streamIs(w, "KV_"+name+"-keys", has(-1)))
		},
		update: func(_ *tenant, m resource.ModernManaged) {
			m.(*v1alpha1.Queue).Spec.ForProvider.Streams[0].MaxMsgs = new(int64(20))
		},
		updated: func(w *tenant, _ resource.ModernManaged, name string) error { return streamIs(w, name, has(20)) },
		drift: func(w *tenant, name string) {
			if err := w.account.bus().JetStream().DeleteKeyValue(w.t.Context(), name+"-keys"); err != nil {
				w.t.Fatal(err)
			}
		},
		exist: func(w *tenant, name string) {
			w.account.put(unusualStream(name))
			unusualBucket(w, name+"-keys")
		},
	}
}

func consumerLifecycle() lifecycle {
	const of = "WORK"
	get := func(w *tenant, name string) (jetstream.Consumer, error) {
		return w.account.bus().JetStream().Consumer(w.t.Context(), of, name)
	}
	delivers := func(w *tenant, name string, want int) error {
		c, err := get(w, name)
		if err != nil {
			return err
		}
		if got := c.CachedInfo().Config.MaxDeliver; got != want {
			return fmt.Errorf("max_deliver: got %d, want %d", got, want)
		}
		return nil
	}
	return lifecycle{
		server:  onNATS,
		prepare: func(w *tenant) { w.account.put(jetstream.StreamConfig{Name: of, Subjects: []string{of + ".>"}}) },
		resource: func(w *tenant, name string) resource.ModernManaged {
			return &v1alpha1.Consumer{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.ConsumerSpec{
				ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.ConsumerParameters{Stream: of, Name: name, MaxDeliver: new(int32(3))},
			}}
		},
		read: func(w *tenant, name string) (string, error) {
			c, err := get(w, name)
			if errors.Is(err, jetstream.ErrConsumerNotFound) {
				return "", nil
			}
			if err != nil {
				return "", err
			}
			return text([]any{c.CachedInfo().Config, c.CachedInfo().Created})
		},
		matches: func(w *tenant, name string) error { return delivers(w, name, 3) },
		update: func(_ *tenant, m resource.ModernManaged) {
			m.(*v1alpha1.Consumer).Spec.ForProvider.MaxDeliver = new(int32(4))
		},
		updated: func(w *tenant, _ resource.ModernManaged, name string) error { return delivers(w, name, 4) },
		drift: func(w *tenant, name string) {
			if err := w.account.bus().JetStream().DeleteConsumer(w.t.Context(), of, name); err != nil {
				w.t.Fatal(err)
			}
		},
		exist: func(w *tenant, name string) {
			_, err := w.account.bus().JetStream().CreateConsumer(w.t.Context(), of, jetstream.ConsumerConfig{
				Durable: name, Name: name, Description: "of another client", AckPolicy: jetstream.AckAllPolicy, DeliverPolicy: jetstream.DeliverNewPolicy,
				MaxDeliver: 3, FilterSubject: of + ".x", AckWait: 7 * time.Second, MaxAckPending: 5, InactiveThreshold: time.Hour,
				MaxWaiting: 9, HeadersOnly: true, Metadata: map[string]string{"team": "a"},
			})
			if err != nil {
				w.t.Fatal(err)
			}
		},
	}
}
