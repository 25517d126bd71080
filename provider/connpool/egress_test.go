package connpool_test

import (
	"slices"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/requeue"
)

// TestEgressPorts checks which ports of ProviderConfigs count: those of the one that a
// resource refers to, and of the default where that describes the system.
func TestEgressPorts(t *testing.T) {
	s := newScene(t, "nats://127.0.0.1:1")
	all := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: connpool.Default}}
	all.Spec.NATS, all.Spec.S3, all.Spec.EgressPorts = &v1alpha1.NATSConfig{URL: "nats://a"}, &v1alpha1.S3Config{}, []int32{9000, 4318}
	own := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "own"}}
	own.Spec.NATS, own.Spec.EgressPorts = &v1alpha1.NATSConfig{URL: "nats://b"}, []int32{5000, 4318}
	for _, err := range []error{s.api.Create(t.Context(), all), s.api.Create(t.Context(), own)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	of := func(via *xpv2.ProviderConfigReference, namespaces labelled, on catalog.System) []int32 {
		t.Helper()
		pool := connpool.NewPool(connpool.Program{Name: "koldun test"}, s.api, connpool.NewSecrets(s.api, s.api), requeue.NewTracker(), connpool.Cluster{Namespaces: namespaces})
		t.Cleanup(pool.Close)
		got, err := pool.For(s.owner, via).EgressPorts(t.Context(), on)
		if err != nil {
			t.Errorf("%s: %v", on, err)
		}
		return got
	}
	named := &xpv2.ProviderConfigReference{Kind: v1alpha1.KindProviderConfig, Name: "own"}
	allowed := labelled{v1alpha1.LabelConnection: v1alpha1.ConnectionAllowed}
	for name, c := range map[string]struct {
		via        *xpv2.ProviderConfigReference
		namespaces labelled
		on         catalog.System
		want       []int32
	}{
		"Default":    {nil, allowed, catalog.NATS, []int32{4318, 9000}},
		"Own":        {named, allowed, catalog.NATS, []int32{4318, 5000}},
		"Inherited":  {named, allowed, catalog.S3, []int32{4318, 5000, 9000}},
		"NotAllowed": {named, labelled{}, catalog.S3, []int32{4318, 5000}},
		"PublicHub":  {named, allowed, catalog.Hub, []int32{4318, 5000}},
	} {
		got := of(c.via, c.namespaces, c.on)
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: the ports are %v, want %v", name, got, c.want)
		}
	}
}
