package local

import (
	"testing"

	"github.com/gorizond/koldun/internal/local/pod"
)

// TestHostsKeepPorts names pods before they start: their ports are the same
// until the StatefulSet is removed.
func TestHostsKeepPorts(t *testing.T) {
	h := newHosts(pod.NewPorts())
	before, err := h.address("ns", "w-0", 9990)
	if err != nil {
		t.Fatal(err)
	}
	containers := []pod.Container{{Ports: []pod.ContainerPort{{Name: "engine", ContainerPort: 9990}, {Name: "health", ContainerPort: 9991}, {ContainerPort: 5}}}}
	first, err := h.take("ns", "w-0", containers)
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.take("ns", "w-0", containers)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != 2 || first["engine"] == first["health"] || first["engine"] != again["engine"] || first["health"] != again["health"] {
		t.Errorf("the ports are %v, then %v", first, again)
	}
	if after, err := h.address("ns", "w-0", 9990); after != before || err != nil {
		t.Errorf("the address changes from %s to %s, %v", before, after, err)
	}
	for _, other := range []podPort{{"ns", "w-1", 9990}, {"other", "w-0", 9990}, {"ns", "w-x-0", 9990}} {
		if _, err := h.port(other); err != nil {
			t.Fatal(err)
		}
	}
	h.forget(Key{Kind: "Deployment", Namespace: "ns", Name: "w"})
	if len(h.known) != 5 {
		t.Errorf("a Deployment takes ports of a StatefulSet along: %v", h.known)
	}
	h.forget(Key{Kind: kindStatefulSet, Namespace: "ns", Name: "w"})
	if len(h.known) != 2 || h.known[podPort{"other", "w-0", 9990}] == 0 || h.known[podPort{"ns", "w-x-0", 9990}] == 0 {
		t.Errorf("after the removal of ns/w the ports are %v", h.known)
	}
}
