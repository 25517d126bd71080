package manager_test

import (
	"sync/atomic"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/cluster"
)

// A namespace is the namespace of one test.
type namespace struct {
	t       *testing.T
	client  client.Client
	cluster *cluster.Cluster
	ns      string
}

// objects are the objects of a namespace.
type objects struct{ *namespace }

// resources are the managed resources of a namespace.
type resources struct{ *objects }

// An account is the account of a namespace on NATS.
type account struct {
	*objects
	server *natstest.OperatorServer
	conn   *bus.Bus // nil until it is needed
}

// buckets are the buckets of a namespace on the S3 gateway.
type buckets struct {
	*objects
	s3 *s3test.Gateway
}

// A config is the ClusterProviderConfig of a namespace, and its other logins.
type config struct {
	*objects
	account *account
	buckets *buckets
}

// servers are the servers of a namespace that can be made unreachable.
type servers struct {
	*objects
	account *account
	buckets *buckets
	config  *config
	hub     *hubtest.Hub // nil without connect
	s3down  *atomic.Bool // makes s3at refuse connections
	s3at    string       // address of the proxy before s3
}

// tenantOf returns the tenant of a namespace with these servers.
func tenantOf(n *namespace, a *account, b *buckets, s *servers) *tenant {
	o := &objects{n}
	a.objects, b.objects, s.objects = o, o, o
	s.account, s.buckets, s.config = a, b, &config{objects: o, account: a, buckets: b}
	return &tenant{objects: o, resources: &resources{o}, account: a, buckets: b, config: s.config, servers: s}
}
