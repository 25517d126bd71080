// Package parity checks that the Crossplane provider, the Terraform provider and
// koldun up have the same effects: each of them runs every scenario on its own
// servers, and the tests compare the contents of the servers.
package parity

import (
	"os"
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/test/cluster/controllers"
)

// shared runs the control plane and the Crossplane provider of all scenarios.
var shared = controllers.New()

func TestMain(m *testing.M) {
	status := s3test.Run(m)
	shared.Stop()
	os.Exit(status)
}
