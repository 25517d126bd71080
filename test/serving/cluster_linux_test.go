package serving_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/gorizond/koldun/internal/local/embedded/nats"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// syncAlways has a server sync each write to disk.
const syncAlways = "always"

// syncs is when the servers of a cluster sync, for roleMember.
func (p plan) syncs() string {
	if p.sync {
		return syncAlways
	}
	return p.syncEvery.String()
}

// roleMember runs one server of a NATS cluster.
func roleMember(dir, name, listen, cluster, routes, sync string) {
	client, peer := mustURL("nats://"+listen), mustURL("nats://"+cluster)
	opts := &server.Options{
		ServerName: name, Host: "127.0.0.1",
		JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true,
		Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1"},
		Routes:  server.RoutesFromStr(routes),

		SyncAlways: sync == syncAlways,
	}
	if every, err := time.ParseDuration(sync); err == nil {
		opts.SyncInterval = every
	}
	_, _ = fmt.Sscan(client.Port(), &opts.Port)
	_, _ = fmt.Sscan(peer.Port(), &opts.Cluster.Port)
	if err := nats.Trust(opts, *readAuthority(), filepath.Join(dir, "accounts"), nats.AccountInterval); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	srv, err := server.NewServer(opts)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	srv.Start()
	<-ended().Done()
	srv.Shutdown()
	srv.WaitForShutdown()
}

func mustURL(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

// startCluster starts three NATS servers, and gives all streams three replicas.
func (br *broker) startCluster(p plan) map[string]*process {
	var clients, peers []string
	for range 3 {
		clients, peers = append(clients, address(br.tb)), append(peers, address(br.tb))
	}
	members := map[string]*process{}
	for i := range 3 {
		name := fmt.Sprintf("n%d", i)
		routes := "nats://" + strings.Join(peers, ",nats://")
		members[name] = br.processes.start("nats-"+name, br.authorityEnv(), os.Args[0], "role-member", br.dir+"/"+name, name, clients[i], peers[i], routes, p.syncs())
	}
	br.natsURL = "nats://" + strings.Join(clients, ",nats://")
	br.makeAccount()
	b := br.bus()
	waittest.Until(br.tb, "all streams to have three replicas", func() bool {
		ctx, cancel := context.WithTimeout(br.tb.Context(), waittest.Limit(10*time.Second))
		defer cancel()
		return b.Ensure(ctx) == nil && setReplicas(ctx, b) == nil
	})
	return members
}

// setReplicas gives every stream, and so every bucket, three replicas.
func setReplicas(ctx context.Context, b *bus.Bus) error {
	all := b.JetStream().ListStreams(ctx)
	for info := range all.Info() {
		cfg := info.Config
		if cfg.Replicas == 3 {
			continue
		}
		cfg.Replicas = 3
		if _, err := b.JetStream().UpdateStream(ctx, cfg); err != nil {
			return err
		}
	}
	return all.Err()
}

// TestClusterLosesItsLeader kills the server that leads the request stream, twice.
func TestClusterLosesItsLeader(t *testing.T) {
	t.Parallel()
	tenants := []history.Tenant{history.NewTenant("amber"), history.NewTenant("birch")}
	s := newStack(t, plan{gateways: 1, dispatchers: 2, runners: 2, cluster: true, tenants: tenants})
	h := &history.History{}
	ctx, stop := context.WithCancel(t.Context())
	w := newWorkload(s, tenants)
	w.start(ctx, 4)
	b := s.broker.bus()
	for range 2 {
		name := ""
		waittest.Until(t, "a leader", func() bool {
			name = streamLeader(t.Context(), b)
			return s.broker.members[name] != nil
		})
		before := w.count()
		begun := time.Now()
		h.Disturb(false, s.broker.members[name].kill)
		waittest.Until(t, "requests to end without "+name, func() bool { return w.count() >= before+20 })
		t.Logf("%s was killed; 20 requests more within %v", name, time.Since(begun).Round(time.Millisecond))
	}
	stop()
	w.wait(h)
	s.collect(t, h)
	h.Verify(t, history.EndsOnce, history.OneGeneration, history.NothingLost, history.TenantsIsolated)
}

func streamLeader(ctx context.Context, b *bus.Bus) string {
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(5*time.Second))
	defer cancel()
	stream, err := b.JetStream().Stream(ctx, names.RequestStream)
	if err != nil {
		return ""
	}
	if c := stream.CachedInfo().Cluster; c != nil {
		return c.Leader
	}
	return ""
}
