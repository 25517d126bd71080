package parity

import (
	"testing"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"k8s.io/apimachinery/pkg/types"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/cluster"
)

// servers are the NATS server and the object store of one scenario with one
// program. All scenarios share the cluster, and create their own nodes in it.
type servers struct {
	t     *testing.T
	nats  *natstest.Server
	s3    *s3test.Gateway
	bus   *bus.Bus
	store *awss3.Client

	kubernetes *cluster.Cluster

	// operator is the server of a scenario with accounts, of which namespace has one.
	// The program writes credentials of users into a Secret.
	operator  *natstest.OperatorServer
	namespace string
	written   types.NamespacedName
}

func newServers(t *testing.T) *servers {
	t.Helper()
	s := &servers{t: t, nats: natstest.Start(t), s3: s3test.Start(t, t.TempDir(), ""), kubernetes: shared.Cluster(t)}
	var err error
	if s.bus, err = bus.Connect(t.Context(), bus.Config{URL: s.nats.URL(), User: natstest.User, Password: natstest.Password, Name: "observer"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.bus.Close)
	if s.store, err = s3store.NewClient(t.Context(), s.s3.Config()); err != nil {
		t.Fatal(err)
	}
	return s
}
