package node_test

import (
	"fmt"
	"sync"
	"time"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/node/kubernetes"
)

// A target is the cluster that the tests run on.
type target struct {
	*cluster.Cluster
	node     *kubernetes.Node // nil for a current cluster
	close    func()
	registry string
}

// An environment is a target with Koldun, and what tests of this package share. It is safe for
// concurrent use.
type environment struct {
	*target
	install sync.Once
	failed  error // why Koldun could not be installed

	installer *installer
	images    *images
	pods      *pods
	services  *services
	claims    *claims
	leftovers *leftovers
	nats      *messaging
	faults    *faults
	network   *network
	usage     *usage
	terraform *terraform
	output    *output
}

func newEnvironment(on *target) *environment {
	e := &environment{target: on}
	e.images, e.pods, e.services = &images{on}, &pods{on}, &services{on}
	e.leftovers, e.usage, e.output = &leftovers{target: on}, &usage{on}, &output{on}
	e.installer = &installer{target: on, images: e.images, leftovers: e.leftovers, pods: e.pods}
	e.claims = &claims{target: on, leftovers: e.leftovers, services: e.services, output: e.output}
	e.nats = &messaging{target: on, services: e.services}
	e.faults = &faults{target: on, pods: e.pods, claims: e.claims, services: e.services, usage: e.usage, nats: e.nats}
	e.network = &network{target: on, pods: e.pods}
	e.terraform = &terraform{target: on, services: e.services, leftovers: e.leftovers, nats: e.nats}
	return e
}

// An installer installs Koldun and what it needs.
type installer struct {
	*target
	images    *images
	leftovers *leftovers
	pods      *pods
}

// images are the images that the target pulls.
type images struct{ *target }

// pods are the pods of the target.
type pods struct{ *target }

// services are the Services of the target, which tests reach from outside of its network.
type services struct{ *target }

// claims are the claims of tests.
type claims struct {
	*target
	leftovers *leftovers
	services  *services
	output    *output
}

// leftovers are the objects that stay after a deletion.
type leftovers struct {
	*target
	before map[string]bool // objects of the namespace default before Koldun
}

// messaging is NATS in the target.
type messaging struct {
	*target
	services *services
}

// faults happen to the target while clients ask.
type faults struct {
	*target
	pods     *pods
	claims   *claims
	services *services
	usage    *usage
	nats     *messaging
}

// network is what NetworkPolicies open and close.
type network struct {
	*target
	pods *pods
}

// usage is what the pods use of their nodes.
type usage struct{ *target }

// terraform applies the examples for Terraform with OpenTofu.
type terraform struct {
	*target
	services  *services
	leftovers *leftovers
	nats      *messaging
}

// output is what commands print of the target.
type output struct{ *target }

// began is when the tests began.
var began = time.Now() //nolint:gochecknoglobals // a constant in all but syntax

// tell prints a line of the story, with the time since the tests began.
func tell(format string, args ...any) {
	fmt.Printf("%4.0fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}
