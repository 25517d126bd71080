// Package porttest gives tests addresses that stay theirs although nobody
// listens there yet, or just now.
//
// A port that was merely free a moment ago is anybody's: on a busy machine the
// kernel gives it to the next connection, and the server that was to have it
// cannot start.
package porttest

import (
	"fmt"
	"testing"
)

// Address is a "127.0.0.1:PORT" that is the test's until it ends. Servers may
// listen there one after another, each by any process, as long as they set
// SO_REUSEADDR, which all of Go's do; while none does, connections are refused.
func Address(tb testing.TB) string {
	tb.Helper()
	return fmt.Sprintf("127.0.0.1:%d", Port(tb))
}

// Port is the port of such an address.
func Port(tb testing.TB) int {
	tb.Helper()
	port, release, err := reserve()
	if err != nil {
		tb.Fatalf("cannot reserve a port: %v", err)
	}
	tb.Cleanup(release)
	return port
}
