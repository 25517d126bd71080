package parity

import (
	"testing"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
	s3store "github.com/gorizond/koldun/internal/objectstore/s3"
	"github.com/gorizond/koldun/test/cluster"
)

// servers are a NATS server and an object store that only one scene uses,
// by one manager. The cluster is that of all, with nodes of the scene's own.
type servers struct {
	t     *testing.T
	nats  *natstest.Server
	s3    *s3test.Gateway
	bus   *bus.Bus
	store *awss3.Client

	kubernetes *cluster.Cluster
}

func fresh(t *testing.T) *servers {
	t.Helper()
	s := &servers{t: t, nats: natstest.Start(t), s3: s3test.Start(t, t.TempDir(), ""), kubernetes: shared.Cluster(t)}
	var err error
	if s.bus, err = bus.Connect(t.Context(), bus.Config{URL: s.nats.URL(), User: natstest.User, Password: natstest.Password, Name: "onlooker"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.bus.Close)
	if s.store, err = s3store.NewClient(t.Context(), s.s3.Config()); err != nil {
		t.Fatal(err)
	}
	return s
}
