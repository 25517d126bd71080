// Command packages lists the packages of this module that have tests, by what their tests
// need. The Makefile runs it.
//
//	packages [-raced=true|false] [-cluster=true|false]
//
// Raced packages have something that the race detector can find: a goroutine, a channel, a
// select statement, a lock, or parallel tests, in their own code or tests. The packages that they
// import have tests of their own.
//
// Cluster packages have tests that start a control plane: they import test/cluster, directly
// or through other packages of the module. A flag that is not given chooses both.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
)

func main() {
	raced, cluster := choice("raced"), choice("cluster")
	flag.Parse()
	all, err := list("./...")
	if err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
	for _, p := range all {
		if !p.tested() || !cluster.allows(p.startsCluster()) {
			continue
		}
		concurrent, err := p.concurrent()
		if err != nil {
			fmt.Fprintln(os.Stderr, "packages:", err)
			os.Exit(1)
		}
		if raced.allows(concurrent) {
			fmt.Println(p.ImportPath)
		}
	}
}

// An optional is a boolean flag that may be absent.
type optional struct{ given, value bool }

func choice(name string) *optional {
	o := &optional{}
	flag.BoolFunc(name, "list only packages of which this is true, or false", func(s string) error {
		v, err := strconv.ParseBool(s)
		o.given, o.value = true, v
		return err
	})
	return o
}

func (o *optional) allows(v bool) bool { return !o.given || o.value == v }
