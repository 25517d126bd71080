package manager_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
	"github.com/gorizond/koldun/test/waittest"
)

// TestReplicas runs two replicas of the provider as processes, on an API server
// of their own. The leader exports metrics of its resources; when it stops, the
// other replica takes over. A kind whose CRD is missing at the start is served
// once the CRD exists.
func TestReplicas(t *testing.T) {
	c := cluster.Start(t, cluster.Options{ControlPlaneOnly: true})
	var early, late []string
	for _, crd := range cluster.Definitions(cluster.ManagedGroup) {
		if strings.Contains(crd, "name: streams.koldun.m.gorizond.io") {
			late = append(late, crd)
		} else {
			early = append(early, crd)
		}
	}
	if len(late) != 1 {
		t.Fatalf("got %d CRDs of streams, want 1", len(late))
	}
	if err := c.Apply(t.Context(), early...); err != nil {
		t.Fatal(err)
	}
	program, err := platform.Build(t.Context(), "../..", "provider")
	if err != nil {
		t.Fatal(err)
	}
	replicas := []*replica{newReplica(t, c, program), newReplica(t, c, program)}
	for _, r := range replicas {
		r.eventually("ready", func() error { _, err := r.ask(r.health, "/readyz"); return err })
	}
	var leader, other *replica
	cluster.Eventually(t, "a leader", func(context.Context) error {
		for i, r := range replicas {
			if r.leads() == nil {
				leader, other = r, replicas[1-i]
				return nil
			}
		}
		return errors.New("neither replica is the leader")
	})
	if err := c.Apply(t.Context(), late...); err != nil {
		t.Fatal(err)
	}
	w := tenantOn(t, c)
	name := "replicas"
	s := stream(w, name)
	w.create(s)
	w.resources.ready(s)
	for _, metric := range []string{
		`crossplane_managed_resource_exists{gvk="koldun.m.gorizond.io/v1alpha1, Kind=Stream"} 1`,
		`crossplane_managed_resource_ready{gvk="koldun.m.gorizond.io/v1alpha1, Kind=Stream"} 1`,
		`crossplane_managed_resource_synced{gvk="koldun.m.gorizond.io/v1alpha1, Kind=Stream"} 1`,
		`crossplane_managed_resource_first_time_to_readiness_seconds_count{gvk="koldun.m.gorizond.io/v1alpha1, Kind=Stream"} 1`,
	} {
		leader.eventually("exporting "+metric, func() error { return leader.exports(metric) })
	}
	if other.leads() == nil {
		t.Error("both replicas are leaders")
	}
	leader.stop()
	other.eventually("the leader", other.leads)
	w.change(s, func() { s.Spec.ForProvider.MaxMsgs = new(int64(20)) })
	w.account.stream(name, "changed by the other replica", func(c jetstream.StreamConfig) bool { return c.MaxMsgs == 20 })
}

// A replica is a running process of the provider.
type replica struct {
	t               *testing.T
	cmd             *exec.Cmd
	metrics, health string
}

func newReplica(t *testing.T, c *cluster.Cluster, program string) *replica {
	t.Helper()
	r := &replica{t: t, metrics: porttest.Address(t), health: porttest.Address(t)}
	r.cmd = start(t, c, program, "--metrics="+r.metrics, "--health="+r.health, "--poll-state-metric=1s")
	return r
}

func (r *replica) ask(addr, path string) (string, error) {
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return "", err
	}
	resp, err := waittest.Client().Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", resp.Status, body)
	}
	return string(body), err
}

// exports returns an error unless the metrics contain the line.
func (r *replica) exports(line string) error {
	text, err := r.ask(r.metrics, "/metrics")
	if err == nil && !strings.Contains(text, line+"\n") {
		err = fmt.Errorf("%q is not among the metrics", line)
	}
	return err
}

func (r *replica) leads() error {
	return r.exports(`leader_election_master_status{name="koldun-provider"} 1`)
}

func (r *replica) eventually(what string, f func() error) {
	r.t.Helper()
	cluster.Eventually(r.t, "a replica to be "+what, func(context.Context) error { return f() })
}

// stop ends the replica by SIGTERM, as a rollout does.
func (r *replica) stop() {
	r.t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		r.t.Fatal(err)
	}
	if err := r.cmd.Wait(); err != nil {
		r.t.Errorf("stop replica: %v", err)
	}
}
