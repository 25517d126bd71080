package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/cluster"
)

// noKeys tests that no key of a session stays in a namespace's buckets for ever: demand, runners
// and leaders are gone, and the record of its pool expires. All sessions have ended. A
// dispatcher that leads one releases its lease after a minute, and the standby a minute
// later.
func (o *services) noKeys(t *testing.T, namespace string) {
	t.Helper()
	b := o.nats.Of(namespace)
	for _, bucket := range []string{names.DemandBucket, names.RunnersBucket, names.LeasesBucket} {
		cluster.Eventually(t, "no key to be left in "+bucket, func(ctx context.Context) error {
			left, err := keys(ctx, b, bucket)
			if err == nil && len(left) > 0 {
				err = fmt.Errorf("keys remain: %q", left)
			}
			return err
		})
	}
	pools, err := keys(t.Context(), b, names.PoolsBucket)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := b.JetStream().Stream(t.Context(), "KV_"+names.PoolsBucket)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range pools {
		m, err := stream.GetLastMsgForSubject(t.Context(), "$KV."+names.PoolsBucket+"."+key)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if m.Header.Get(jetstream.MsgTTLHeader) == "" {
			t.Errorf("key %q of %s never expires", key, names.PoolsBucket)
		}
	}
	t.Logf("no demand, runner or leader remains; pool records that will expire: %d", len(pools))
}

func keys(ctx context.Context, b *bus.Bus, bucket string) ([]string, error) {
	kv, err := b.JetStream().KeyValue(ctx, bucket)
	if err != nil {
		return nil, err
	}
	lister, err := kv.ListKeys(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for key := range lister.Keys() {
		out = append(out, key)
	}
	return out, nil
}
