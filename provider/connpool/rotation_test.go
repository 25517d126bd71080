package connpool_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/waittest"
)

// pod connects as a process does whose credentials are in a file.
func (s operatorScene) pod(t *testing.T, namespace string) *bus.Bus {
	t.Helper()
	user, err := natstest.Keyring.User(natsauth.Grant{Namespace: namespace, Owner: "pod", Role: natsauth.Gateway}, time.Hour)
	path := filepath.Join(t.TempDir(), "gateway.creds")
	if err = errors.Join(err, os.WriteFile(path, []byte(user.Credentials), 0o600)); err != nil {
		t.Fatal(err)
	}
	b, err := bus.Connect(waittest.Context(t), bus.Config{URL: s.server.URL(), CredsFile: path, Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// signWith writes the signing key of the operator into the Secret of the ClusterProviderConfig.
func (s operatorScene) signWith(t *testing.T, seed natsauth.Seed) {
	t.Helper()
	var secret corev1.Secret
	if err := s.api.Get(t.Context(), types.NamespacedName{Namespace: "platform", Name: "operator"}, &secret); err != nil {
		t.Fatal(err)
	}
	secret.Data["operator.nk"] = []byte(seed)
	if err := s.api.Update(t.Context(), &secret); err != nil {
		t.Fatal(err)
	}
}

// TestSigningKeyIsRotated follows docs/guides/rotate-keys.md: the operator lists a second signing
// key, the Secret gets it, and the operator drops the first one. Pods of all namespaces
// come back by themselves each time, also where no resource is reconciled.
func TestSigningKeyIsRotated(t *testing.T) {
	ctx := waittest.Context(t)
	operator := natstest.NewOperator(t)
	first, second := operator.SigningKey(), operator.SigningKey()
	s := newOperatorSceneOn(t, natstest.StartOperatorAs(t, operator.Authority(first)))
	var pods []*bus.Bus
	provided := func(namespace string) *bus.Bus {
		t.Helper()
		var b *bus.Bus
		waittest.Until(t, "the provider to connect", func() bool {
			var err error
			b, _, err = s.of(namespace, "x").NATS(ctx)
			return err == nil && b.Connected()
		})
		return b
	}
	for _, namespace := range []string{"busy", "idle"} {
		if err := provided(namespace).EnsureKV(ctx, bus.KVSpec{Bucket: names.Bucket{Name: names.DemandBucket}}); err != nil {
			t.Fatal(err)
		}
		pods = append(pods, s.pod(t, namespace))
	}
	served := func(when string) {
		t.Helper()
		for _, pod := range pods {
			waittest.Until(t, "a pod to be served "+when, func() bool {
				_, err := pod.Put(ctx, names.DemandBucket, "slot", when)
				return err == nil
			})
		}
	}
	served("at first")

	s.server.Trust(operator.Authority(first, second))
	served("with both keys")
	s.signWith(t, second)
	before := pods[0].Conn().Reconnects
	provided("busy") // the tracker makes each resource of the Secret's ClusterProviderConfig do so
	for _, namespace := range []string{"busy", "idle"} {
		if state, err := s.server.Accounts().State(ctx, namespace); err != nil || !state.Current {
			t.Errorf("the account of namespace %q is signed by the earlier key: %+v, %v", namespace, state, err)
		}
	}
	served("after the change of the Secret")
	if now := pods[0].Conn().Reconnects; now != before {
		t.Errorf("a pod reconnected %d times when its account was signed by another key", now-before)
	}

	s.server.Trust(operator.Authority(second))
	served("without the first key")
	s.pod(t, "idle")
	if have, _, err := provided("busy").Manager().CompareKV(ctx, bus.KVSpec{Bucket: names.Bucket{Name: names.DemandBucket}}); err != nil || have == nil {
		t.Errorf("the bucket is gone: %v", err)
	}
	provided("idle")
	s.signWith(t, first)
	if _, _, err := s.of("busy", "x").NATS(ctx); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "does not list the signing key") {
		t.Errorf("with the first key again: %v, want an error that says that the operator does not list it", err)
	}
}
