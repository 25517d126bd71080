package cluster

import (
	"sync"

	"google.golang.org/grpc"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A connection is how programs and tests reach the API server: as its administrator.
type connection struct {
	bin    string // folder of programs
	dir    *folder
	config *rest.Config
	client client.WithWatch
}

// objects are what the API server holds.
type objects struct{ *connection }

// programs are the processes of the cluster.
type programs struct {
	*connection
	mu        sync.Mutex
	processes []*Process
}

// A controlPlane is etcd, kube-apiserver and kube-controller-manager.
type controlPlane struct {
	*connection
	programs    *programs
	controllers *Process
}

// A crossplaneRelease is Crossplane as its Helm chart installs it.
type crossplaneRelease struct {
	*connection
	programs *programs
	objects  *objects

	metrics string // URL of core's metrics
	core    *Process
	rbac    *Process
}

// certificates are what Crossplane's authority signs for functions.
type certificates struct{ *connection }

// revisions are the revisions of packages, whose runtime is outside of the cluster.
type revisions struct {
	*connection
	certificates *certificates
}

// A logFolder has the logs of the programs.
type logFolder struct{ *connection }

// newCluster returns a cluster that runs nothing yet.
func newCluster(on *connection) *Cluster {
	c := &Cluster{
		connection: on, objects: &objects{on}, programs: &programs{connection: on}, certificates: &certificates{on}, logFolder: &logFolder{on},
		functions: map[string]*grpc.Server{},
	}
	c.controlPlane = &controlPlane{connection: on, programs: c.programs}
	c.crossplane = &crossplaneRelease{connection: on, programs: c.programs, objects: c.objects}
	c.revisions = &revisions{connection: on, certificates: c.certificates}
	return c
}
