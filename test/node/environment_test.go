package node_test

import (
	"fmt"
	"sync"
	"time"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/node/kubernetes"
)

// A world is a cluster with what tests of this package share. It is safe for concurrent use.
type world struct {
	*cluster.Cluster
	node     *kubernetes.Node // nil for a current cluster
	close    func()
	registry string

	install sync.Once
	failed  error           // why Koldun could not be installed
	before  map[string]bool // objects of the namespace default before Koldun
}

// began is when the tests began.
var began = time.Now() //nolint:gochecknoglobals // a constant in all but syntax

// tell prints a line of the story, with the time since the tests began.
func tell(format string, args ...any) {
	fmt.Printf("%4.0fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}
