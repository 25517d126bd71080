package natsuser_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/consumer"
	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/internal/external/natsaccount"
	"github.com/gorizond/koldun/internal/external/natsuser"
	"github.com/gorizond/koldun/internal/external/queue"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	requests "github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

const replicas = 3

// A site is three servers in operator mode with the account of a namespace, in which a
// NATSUser has made a gateway and an operator, and a Queue all streams and buckets.
type site struct {
	*scene

	cluster  *natstest.OperatorCluster
	provider *bus.Bus
	queue    *queue.Client
}

func newSite(t *testing.T) *site {
	t.Helper()
	c := natstest.StartOperatorCluster(t, replicas)
	ctx := waittest.Context(t)
	account := natsaccount.New(c.Accounts)
	limits := natsaccount.Spec{Namespace: "team", Connections: 50, DiskBytes: 4 << 30, Streams: 20} // as in examples/nats
	if err := account.Create(ctx, limits); err != nil {
		t.Fatal(err)
	}
	if o, err := account.Observe(ctx, limits); err != nil || !o.Ready || !o.UpToDate {
		t.Fatalf("the account: %+v, %v", o, err)
	}
	s := &site{cluster: c, scene: &scene{
		t: t, client: natsuser.New(c.Accounts, map[string][]byte{"NATS_URL": []byte(c.URL())}),
		spec: natsuser.Spec{Users: []natsuser.User{{Name: "gateway", Role: "gateway"}, {Name: "operator", Role: "operator"}}, Namespace: "team", Owner: "o"},
	}}
	s.observe()
	own, err := c.Accounts.Keyring().User(natsauth.Grant{Namespace: "team", Owner: "provider", Role: natsauth.Provider}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.provider = s.dial(c.URL(), own.Credentials)
	s.queue = queue.New(stream.New(s.provider, nil), keyvalue.New(s.provider, nil), nil)
	s.compose(1) // another claim, with fewer replicas, comes first
	s.compose(replicas)
	s.compose(1)
	return s
}

// compose updates the Queue of a claim with spec.backend.queue.replicas.
func (s *site) compose(replicas int) {
	s.t.Helper()
	ctx, spec := waittest.Context(s.t), replicated(replicas)
	if err := s.queue.Update(ctx, spec); err != nil {
		s.t.Fatal(err)
	}
	if o, err := s.queue.Observe(ctx, spec); err != nil || !o.UpToDate {
		s.t.Errorf("a queue with %d replicas: %+v, %v", replicas, o, err)
	}
}

// replicated describes all streams and buckets.
func replicated(replicas int) queue.Spec {
	var out queue.Spec
	for _, s := range names.Streams() {
		part := stream.Spec{Name: s.Name, Subjects: s.Subjects, MaxBytes: s.MaxBytes, MaxMsgs: s.MaxMsgs, Replicas: replicas, Discard: "old"}
		if s.DiscardNew {
			part.Discard = "new"
		}
		out.Streams = append(out.Streams, part)
	}
	for _, b := range bus.Buckets() {
		part := keyvalue.Spec{Bucket: b.Name, Replicas: replicas}
		if age := external.Duration(b.Markers); age > 0 {
			part.LimitMarkerTTL = &age
		}
		out.KeyValues = append(out.KeyValues, part)
	}
	return out
}

// dial connects with credentials until the test ends.
func (s *site) dial(url, creds string) *bus.Bus {
	s.t.Helper()
	b, err := bus.Connect(waittest.Context(s.t), bus.Config{URL: url, Creds: creds})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(b.Close)
	return b
}

// refused reports whether the server at a URL refuses the gateway's credentials.
func (s *site) refused(url string, creds []byte) bool {
	ctx, cancel := context.WithTimeout(s.t.Context(), waittest.Limit(10*time.Second))
	defer cancel()
	b, err := bus.Connect(ctx, bus.Config{URL: url, Creds: string(creds), Patience: time.Millisecond})
	if err == nil {
		b.Close()
	}
	return fault.Is(err, fault.Denied)
}

// leader returns the index of the server that leads the stream of requests.
func (s *site) leader() int {
	found := -1
	waittest.Until(s.t, "a leader of the stream of requests", func() bool {
		st, err := s.provider.JetStream().Stream(waittest.Attempt(s.t), names.RequestStream)
		if err == nil && st.CachedInfo().Cluster != nil {
			found = s.cluster.Index(st.CachedInfo().Cluster.Leader)
		}
		return found >= 0
	})
	return found
}

// TestServersOfACluster makes an account, users and a queue on three servers, loses the
// one that leads while requests are stored, and revokes a user while it is away.
func TestServersOfACluster(t *testing.T) {
	s := newSite(t)
	s.checkReplicas()

	gateway := requests.New(s.dial(s.cluster.URL(), string(s.spec.Stored["gateway.creds"])))
	session := names.Session("team", "tiny", "")
	var stored []string
	store := func(n int) {
		t.Helper()
		for range n {
			id := fmt.Sprintf("req_%d", len(stored))
			if _, err := gateway.Publish(waittest.Context(t), requests.Request{ID: id, Session: session, Tenant: "t", Model: "team/tiny", Body: []byte(`{}`)}); err != nil {
				t.Fatalf("request %s: %v", id, err)
			}
			stored = append(stored, id)
		}
	}
	store(20)
	lost := s.leader()
	s.cluster.Stop(lost)
	store(20)
	slices.Sort(stored)
	operator := requests.New(s.dial(s.cluster.URL(), string(s.spec.Stored["operator.creds"])))
	// A reader may be on a server that has the last message and does not show it yet.
	waittest.Until(t, "all accepted requests, and no others, in the stream", func() bool {
		var have []string
		err := operator.OpenRequests(waittest.Context(t), session, func(r requests.OpenRequest) bool {
			have = append(have, r.ID)
			return true
		})
		slices.Sort(have)
		return err == nil && slices.Equal(have, stored)
	})
	s.revokeWithout(lost)
}

// revokeWithout removes the gateway's user while a server is away. No server may take
// its credentials, also not the one that comes back.
func (s *site) revokeWithout(away int) {
	s.t.Helper()
	urls := strings.Split(s.cluster.URL(), ",")
	creds := s.spec.Stored["gateway.creds"]
	s.spec.Users = s.spec.Users[1:]
	if o := s.observe(); o.UpToDate || len(o.Status.Revoking) != 1 {
		s.t.Fatalf("Observe without the gateway: %+v", o.Status)
	}
	if err := s.client.Update(s.t.Context(), s.spec); err != nil {
		s.t.Fatalf("cannot revoke while a server is away: %v", err)
	}
	if o := s.observe(); !o.UpToDate {
		s.t.Errorf("Observe after Update: %+v", o.Status)
	}
	for i, url := range urls {
		if i != away && !s.refused(url, creds) {
			s.t.Errorf("server %d takes a user that was revoked", i)
		}
	}
	s.cluster.Restart(away)
	waittest.Until(s.t, "the server that was away to refuse the revoked user", func() bool { return s.refused(urls[away], creds) })
	for i, url := range urls {
		s.dial(url, string(s.spec.Stored["operator.creds"])) // others go on
		if !s.refused(url, creds) {
			s.t.Errorf("server %d takes a user that was revoked, when all are back", i)
		}
	}
}

// checkReplicas looks at all streams, which buckets are as well, and at a consumer.
func (s *site) checkReplicas() {
	s.t.Helper()
	ctx := waittest.Context(s.t)
	for _, st := range append(names.Streams(), kvStreams()...) {
		waittest.Until(s.t, "copies of stream "+st.Name+" on all servers", func() bool {
			have, err := s.provider.JetStream().Stream(ctx, st.Name)
			return err == nil && have.CachedInfo().Config.Replicas == replicas && copied(have.CachedInfo().Cluster)
		})
	}
	reader := consumer.Spec{Stream: names.OutcomeStream, Name: "reader"}
	if err := consumer.New(s.provider, nil).Create(ctx, reader); err != nil {
		s.t.Fatal(err)
	}
	var info *jetstream.ConsumerInfo
	c, err := s.provider.JetStream().Consumer(ctx, reader.Stream, reader.Name)
	if err == nil {
		info, err = c.Info(ctx)
	}
	if err != nil || info.Cluster == nil || len(info.Cluster.Replicas) != replicas-1 {
		s.t.Errorf("the consumer is on %+v, %v", info, err)
	}
}

// copied reports whether the servers beside the leader are up to date.
func copied(on *jetstream.ClusterInfo) bool {
	return on != nil && on.Leader != "" && len(on.Replicas) == replicas-1 &&
		!slices.ContainsFunc(on.Replicas, func(p *jetstream.PeerInfo) bool { return !p.Current })
}

func kvStreams() (out []names.Stream) {
	for _, b := range names.Buckets() {
		out = append(out, names.Stream{Name: names.KVStream(b.Name)})
	}
	return out
}
