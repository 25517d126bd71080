// Package porttest reserves addresses for tests before and between servers.
//
// A port that was only found to be free is not reserved: on a busy machine the
// kernel gives it to the next connection, and the test's server cannot start.
package porttest

import (
	"fmt"
	"testing"
)

// Address returns a "127.0.0.1:PORT" that is reserved until the test ends.
// Servers of any process may listen there one after another if they set
// SO_REUSEADDR, as Go does. Without a server, connections are refused.
func Address(tb testing.TB) string {
	tb.Helper()
	return fmt.Sprintf("127.0.0.1:%d", Port(tb))
}

// Port returns the port of such an address.
func Port(tb testing.TB) int {
	tb.Helper()
	port, release, err := reserve()
	if err != nil {
		tb.Fatalf("cannot reserve a port: %v", err)
	}
	tb.Cleanup(release)
	return port
}
